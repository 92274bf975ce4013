"""Customer service of a sample shop: order, logistics, refund policy, refunds so far, a new refund and its withdrawal.

The shop is a SQLite file in the home folder, filled on first use (`tools/shop_data.py`); it stands for a shop's own
service and shows how such a set is built: reads with typed fields, a write with look-up, business key and undo.
"""

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from anyio import to_thread
from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from tools.settings import ToolSettings
from tools.shop_data import opened
from tools.tool import Tool, ToolEnv, read, write

Reason = Literal["damaged", "late", "wrong_item", "missing_part", "unwanted"]
_closed = with_config(ConfigDict(extra="forbid"))
"""There are no other fields, so a plan that names another is sent back before it runs."""
_FAULTS = ("damaged", "late", "wrong_item", "missing_part")
_MONTHS = {"this month": 0, "本月": 0, "这个月": 0, "last month": 1, "上个月": 1, "上月": 1}


@_closed
class Order(TypedDict):
    """An order; `amount` is what was paid for it."""

    order: str
    item: str
    category: str
    amount: float
    currency: str
    state: str
    ordered: str
    delivered: str | None


@_closed
class Event(TypedDict):
    """What happened to a parcel."""

    day: str
    place: str
    event: str


@_closed
class Parcel(TypedDict):
    """Where the parcel of an order is; `events` is empty before it was handed over, the last is the newest."""

    order: str
    carrier: str | None
    tracking: str | None
    events: list[Event]


@_closed
class Policy(TypedDict):
    """What is paid back: `share` of the price within `days` of delivery."""

    category: str
    days: int
    share: float
    text: str


@_closed
class Refund(TypedDict):
    """One refund."""

    refund: int
    order: str
    amount: float
    reason: str
    day: str
    state: str


def tools(settings: ToolSettings) -> list[Tool]:
    """The set, over the shop in the home folder."""
    shop = Shop(Path(settings.home) / "shop.db")
    return [
        read(shop.order_status),
        read(shop.order_logistics),
        read(shop.refund_policy),
        read(shop.order_refunds),
        write(shop.submit_refund, lookup=shop.submitted, business_key=_claim, compensate=_withdrawal),
        write(shop.withdraw_refund, lookup=shop.withdrawn),
    ]


class Shop:
    """The tools' functions; each docstring is what a model reads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def order_status(self, order: str) -> Order:
        """Looks up an order by its number: item, amount paid, state, and when it was ordered and delivered."""
        return self._order(order)

    def order_logistics(self, order: str) -> Parcel:
        """Looks up where the parcel of an order is, with carrier, tracking number and what happened so far."""
        name = self._order(order)["order"]
        find = "SELECT day, place, event, carrier, tracking FROM parcels WHERE order_id = ? ORDER BY day"
        with opened(self._path) as db:
            rows = [dict(row) for row in db.execute(find, (name,))]
        events: list[Event] = [{"day": row["day"], "place": row["place"], "event": row["event"]} for row in rows]
        last = rows[-1] if rows else {"carrier": None, "tracking": None}
        return {"order": name, "carrier": last["carrier"], "tracking": last["tracking"], "events": events}

    def refund_policy(self, category: str) -> Policy:
        """Looks up the refund policy for a category of goods: days after delivery, share of the price, the words."""
        with opened(self._path) as db:
            found = {row["category"]: row for row in db.execute("SELECT category, days, share, text FROM policy")}
        if category not in found:
            message = f"there is no category {shorten(category)!r}; there are {', '.join(found)}"
            raise ToolFailed(message, "not_found")
        return dict(found[category])  # type: ignore[return-value]

    def order_refunds(self, order: str, month: str = "") -> list[Refund]:
        """Lists the refunds of an order, oldest first: all, or those of a month such as 2030-05 or last month."""
        name, start = self._order(order)["order"], _month(month)
        find = "SELECT * FROM refunds WHERE order_id = ? AND day LIKE ? AND state = 'paid' ORDER BY day, id"
        with opened(self._path) as db:
            return [_refund(row) for row in db.execute(find, (name, f"{start}%"))]

    def submit_refund(self, order: str, amount: Annotated[float, Field(gt=0)], reason: Reason, env: ToolEnv) -> Refund:
        """Pays back an amount of an order for a reason: damaged, late, wrong_item, missing_part or unwanted."""
        found, cents = self._order(order), round(amount * 100)
        policy = self.refund_policy(found["category"])
        with opened(self._path) as db:
            paid = db.execute(
                "SELECT coalesce(sum(amount), 0) FROM refunds WHERE order_id = ? AND state = 'paid'", (found["order"],)
            ).fetchone()[0]
            if why := _not_due(found, policy, reason, cents, paid):
                raise ToolFailed(why, "policy")
            row = db.execute(
                "INSERT INTO refunds (order_id, amount, reason, day, state, key) VALUES (?, ?, ?, ?, 'paid', ?)"
                " RETURNING *",
                (found["order"], cents, reason, date.today().isoformat(), env.key or None),
            ).fetchone()
            return _refund(row)

    def withdraw_refund(self, refund: int) -> Refund:
        """Withdraws a refund that was submitted."""
        with opened(self._path) as db:
            db.execute("UPDATE refunds SET state = 'withdrawn' WHERE id = ?", (refund,))
            row = db.execute("SELECT * FROM refunds WHERE id = ?", (refund,)).fetchone()
        if row is None:
            raise ToolFailed(f"there is no refund {refund}", "not_found")
        return _refund(row)

    async def submitted(self, args: dict[str, Any], key: str) -> Refund | None:
        """The refund that was made with this key, if it was made."""
        return await to_thread.run_sync(self._found, "key = ?", key)

    async def withdrawn(self, args: dict[str, Any], key: str) -> Refund | None:
        """The refund, if it is withdrawn."""
        return await to_thread.run_sync(self._found, "state = 'withdrawn' AND id = ?", args["refund"])

    def _found(self, where: str, value: Any) -> Refund | None:
        with opened(self._path) as db:
            row = db.execute(f"SELECT * FROM refunds WHERE {where}", (value,)).fetchone()
        return _refund(row) if row else None

    def _order(self, order: str) -> Order:
        name = order.strip().lstrip("#").upper()
        with opened(self._path) as db:
            row = db.execute("SELECT * FROM orders WHERE id = ?", (name,)).fetchone()
        if row is None:
            raise ToolFailed(f"there is no order {shorten(order)!r}; ask the customer for its number", "not_found")
        found = dict(row)
        return {"order": found.pop("id"), **found, "amount": found["amount"] / 100}  # type: ignore[typeddict-item]


def _refund(row: Any) -> Refund:
    return {"refund": row["id"], "order": row["order_id"], "amount": row["amount"] / 100, "reason": row["reason"],
            "day": row["day"], "state": row["state"]}  # fmt: skip


def _not_due(order: Order, policy: Policy, reason: str, cents: int, paid: int) -> str:
    """Why the policy pays nothing, or not that much; an empty text if it does."""
    if not order["delivered"]:
        return f"order {order['order']} is {order['state']}; only what was delivered is paid back"
    price = round(order["amount"] * 100)
    if reason not in _FAULTS:
        end = date.fromisoformat(order["delivered"]) + timedelta(policy["days"])
        if date.today() > end or not policy["share"]:
            return f"order {order['order']} is no longer taken back: {policy['text']}"
        price = round(price * policy["share"])
    if cents > price - paid:
        return f"of order {order['order']} at most {(price - paid) / 100:.2f} {order['currency']} can be paid back"
    return ""


def _month(text: str) -> str:
    """How the dates of a month begin."""
    word = " ".join(text.lower().split())
    if word in _MONTHS:
        first = date.today().replace(day=1)
        return (first - timedelta(_MONTHS[word])).strftime("%Y-%m")
    if word and not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", word):
        wrong = f"month {shorten(text)!r} can't be read; right would be 2030-05, this month or last month"
        raise ToolFailed(wrong, "invalid_arguments")
    return word


def _claim(args: dict[str, Any]) -> str:
    """One refund for an order, reason and amount, in whichever request."""
    return f"{str(args['order']).strip().lstrip('#').upper()} {args['reason']} {float(args['amount']):.2f}"


def _withdrawal(args: dict[str, Any], output: Any) -> tuple[str, dict[str, Any]]:
    return "withdraw_refund", {"refund": output["refund"]}
