"""A sample shop in one SQLite file: orders, parcels, refunds and what its policy says. Made and filled on first use.

Amounts are in cents. Dates lie around the day on which it is filled, so that "last month" holds something.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, timedelta
from pathlib import Path

from state.errors import ToolFailed

_SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, item TEXT, category TEXT, amount INTEGER, currency TEXT,
  state TEXT, ordered TEXT, delivered TEXT);
CREATE TABLE IF NOT EXISTS parcels (order_id TEXT, day TEXT, place TEXT, event TEXT, carrier TEXT, tracking TEXT);
CREATE TABLE IF NOT EXISTS policy (category TEXT PRIMARY KEY, days INTEGER, share REAL, text TEXT);
CREATE TABLE IF NOT EXISTS refunds (id INTEGER PRIMARY KEY AUTOINCREMENT, order_id TEXT, amount INTEGER, reason TEXT,
  day TEXT, state TEXT, key TEXT UNIQUE);
"""
_POLICY = [
    ("electronics", 30, 1.0, "Within 30 days of delivery, complete; damage on the way is always paid."),
    ("clothing", 60, 1.0, "Within 60 days of delivery, unworn."),
    ("food", 3, 0.5, "Within 3 days of delivery, half of the price; spoilt goods are always paid in full."),
    ("digital", 0, 0.0, "A download is not taken back once it was opened."),
]  # fmt: skip
_ORDERS = [
    ("AB123", "headphones, box of 10", "electronics", 149900, "delivered", 75, 12),
    ("AB124", "winter coat", "clothing", 18950, "shipped", 4, None),
    ("AB125", "camera", "electronics", 64900, "delivered", 130, 120),
    ("AB126", "coffee beans", "food", 3200, "delivered", 5, 2),
    ("AB127", "typeface", "digital", 4900, "delivered", 9, 9),
    ("AB128", "desk lamp", "electronics", 7990, "processing", 1, None),
]
_PARCELS = [
    ("AB123", 15, "Hamburg", "picked up", "DHL", "DH0081"),
    ("AB123", 12, "Bremen", "delivered", "DHL", "DH0081"),
    ("AB124", 3, "Leipzig", "picked up", "UPS", "1Z7745"),
    ("AB124", 1, "Erfurt", "in the sorting centre", "UPS", "1Z7745"),
]
_REFUNDS = [("AB123", 2500, "late", 0, 20), ("AB123", 4500, "damaged", 1, 3), ("AB123", 1275, "wrong_item", 1, 12),
            ("AB123", 3990, "missing_part", 1, 21), ("AB125", 900, "late", 2, 9)]  # fmt: skip
"""Order, amount, reason, and the month before this one (0: two months ago) and day of it."""


@contextmanager
def opened(path: Path, today: date | None = None) -> Iterator[sqlite3.Connection]:
    """The shop in one transaction: all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as db:
            db.row_factory = sqlite3.Row
            db.executescript(_SCHEMA)
            db.execute("BEGIN IMMEDIATE")
            if db.execute("SELECT count(*) FROM policy").fetchone()[0] == 0:
                _fill(db, today or date.today())
            yield db
            db.execute("COMMIT")
    except (sqlite3.Error, OSError) as error:
        raise ToolFailed(f"the shop's database can't be used: {error}", "transient") from error


def _fill(db: sqlite3.Connection, today: date) -> None:
    def before(days: int | None) -> str | None:
        return None if days is None else (today - timedelta(days)).isoformat()

    last = (today.replace(day=1) - timedelta(1)).replace(day=1)
    months = {1: last, 0: (last - timedelta(1)).replace(day=1), 2: (last - timedelta(40)).replace(day=1)}
    db.executemany("INSERT INTO policy VALUES (?, ?, ?, ?)", _POLICY)
    db.executemany(
        "INSERT INTO orders VALUES (?, ?, ?, ?, 'EUR', ?, ?, ?)",
        [(*row[:5], before(row[5]), before(row[6])) for row in _ORDERS],
    )
    db.executemany(
        "INSERT INTO parcels VALUES (?, ?, ?, ?, ?, ?)", [(row[0], before(row[1]), *row[2:]) for row in _PARCELS]
    )
    db.executemany(
        "INSERT INTO refunds (order_id, amount, reason, day, state) VALUES (?, ?, ?, ?, 'paid')",
        [(order, amount, why, months[at].replace(day=day).isoformat()) for order, amount, why, at, day in _REFUNDS],
    )
