"""Runs that outlive their server: two Aegra servers, one of them killed in mid-run, everything counted.

Run: `make aegra`, then `python -m benchmarks.takeover [RUNS] [SECONDS]` (200 runs a part, at most 900 seconds in all).
Four parts: all runs on one server; on two; on two of which one is ended by `kill -9`; and runs whose order a person
approved just before the kill. The model and the look-ups are a scripted server on loopback; the engine, the database,
the queue and the kills are real. It ends with 1 if a run was lost, a step was repeated whose result was kept, or an
order does not lie there exactly once.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from statistics import median, quantiles

from benchmarks.aegra import ROOT, Server, Stack, stack
from benchmarks.takeover_record import Kept, Record
from benchmarks.takeover_world import LOOKS, World, world

CONFIG = ROOT / "benchmarks" / "takeover.json"
SECONDS = 0.3
"""How long a look-up, an order or a model takes in the mean."""
ORDERS = 3
"""Orders that a kill has to cut off."""
APPROVED = 20
"""Runs whose order a person approves; few, so that all are at it together when the kill comes."""
EVERYTHING = ("plan", *LOOKS, "order", "answer")
"""What a run asks."""
BEFORE = {"a1": ("plan",), "b1": ("plan",), "a3": ("a1",), "b3": ("b1",), "answer": (*LOOKS, "order")}
"""What must be in the database when something is asked for: two steps on in a chain, one node on in the graph."""


class Failed(AssertionError):
    """A check that did not hold; says which runs broke it."""


def check(what: str, wrong: Sequence[object]) -> None:
    """Prints a check that holds; ends the benchmark at one that does not."""
    if wrong:
        raise Failed(f"FAILED {what}: {len(wrong)} broke it, such as {list(wrong[:5])}")
    print(f"  ok: {what}")


async def measured(record: Record, servers: Sequence[Server], name: str, count: int) -> list[str]:
    """A part without a kill."""
    runs = names(name, count)
    await record.submit(runs, [server.url for server in servers])
    await record.wait(runs)
    throughput(record, runs, f"{len(servers)} server{'s' * (len(servers) > 1)}")
    return runs


def names(part: str, count: int) -> list[str]:
    """The runs of a part; the name is also the task."""
    return [f"run-{part}-{number}" for number in range(count)]


def throughput(record: Record, runs: Sequence[str], words: str) -> None:
    """Prints how long a part took."""
    took = [record.ended(run) - record.created(run) for run in runs]
    whole = max(map(record.ended, runs)) - min(map(record.created, runs))
    print(f"{words}: {len(runs)} runs of {len(EVERYTHING)} calls in {whole:.1f} s, {len(runs) / whole:.2f} a second;")
    print(f"  from the request to the end of a run: median {median(took):.1f} s, longest {max(took):.1f} s", flush=True)


async def killed(record: Record, made: World, server: Server, runs: Sequence[str]) -> Kept:
    """Kills the server as soon as it is in the midst of several orders; what was kept of all that it was at."""
    while len(set(made.open_orders()) & set(at_work := record.at_work(server.program))) < ORDERS:
        if not record.count_open(runs):
            raise Failed("FAILED the kill found no orders in the midst: give it more runs")
        await asyncio.sleep(0.01)
    server.kill()
    at = time.time()
    await asyncio.sleep(0.3)  # the database ends what it had begun for the dead server
    return await record.kept(at, at_work)


async def with_a_kill(record: Record, made: World, servers: Sequence[Server], count: int) -> tuple[list[str], Kept]:
    """Runs on all servers, of which the first is killed."""
    runs = names("3", count)
    await record.submit(runs, [server.url for server in servers])
    kept = await killed(record, made, servers[0], runs)
    await record.wait(runs)
    throughput(record, runs, "2 servers, one killed")
    show_takeover(record, made, kept)
    return runs, kept


async def approved(record: Record, made: World, servers: Sequence[Server]) -> tuple[list[str], Kept]:
    """Runs that wait for a person on the first server, which is killed as soon as it makes what was approved."""
    runs = names("4", APPROVED)
    await record.submit(runs, [servers[0].url], writes="ask")
    await record.wait(runs)
    check("runs wait for approval, and nothing is ordered", [run for run in runs if made.of(run, "order")])
    await record.approve(runs, servers[1].url)
    kept = await killed(record, made, servers[0], runs)
    await record.wait(runs)
    show_takeover(record, made, kept)
    return runs, kept


def show_takeover(record: Record, made: World, kept: Kept) -> None:
    """Prints how long it took until another server went on."""
    given_up = [record.given_up(run, kept.at) - kept.at for run in kept.runs]
    taken = [record.taken(run, kept.at) - kept.at for run in kept.runs]
    print(f"killed in the midst of {len(kept.runs)} runs, {sum(map(len, kept.steps.values()))} finished steps in them")
    for words, times in (("back in the queue", given_up), ("with the other server", taken)):
        most = quantiles(times, n=10, method="inclusive")[-1]
        print(f"  {words}: first after {min(times):.1f} s, median {median(times):.1f} s, ", end="")
        print(f"90 % within {most:.1f} s, last after {max(times):.1f} s")
    again = sum(len(made.of(run, what)) - 1 for run in kept.runs for what in LOOKS)
    print(f"  orders cut off: {len(cut_off(made, kept))}; look-ups that were open at the kill and done again: {again}")
    sys.stdout.flush()


def cut_off(made: World, kept: Kept) -> list[str]:
    """The runs whose order was being made at the kill."""
    return [run for run in kept.runs for call in made.of(run, "order")[:1] if call.began < kept.at < call.ended]


def finished(made: World, kept: Kept) -> list[tuple[str, str]]:
    """What the killed server had left so far behind that its result must be kept."""
    return [
        (run, what)
        for run in kept.runs
        for later, earlier in BEFORE.items()
        if any(call.began < kept.at for call in made.of(run, later))
        for what in earlier
    ]


def check_all(record: Record, made: World, runs: Sequence[str], kills: Sequence[Kept]) -> None:
    """Everything that has to hold."""
    steps = {run: kept.steps[run] for kept in kills for run in kept.runs}
    check("every run has ended as done", [run for run in runs if record.outcome(run) != ("success", "done")])
    check("every order lies there exactly once", [run for run in runs if made.orders.count(run) != 1])
    check("the journal has each order once, as done", [run for run in runs if record.journal(run) != ["done"]])
    check(
        "what the killed server had gone on from was kept",
        [(run, what) for kept in kills for run, what in finished(made, kept) if what not in kept.steps[run]],
    )
    check(
        "no step whose result was kept was done again, no plan made anew",
        [(run, step) for run, done in steps.items() for step in done if len(made.of(run, step)) != 1],
    )
    check(
        "runs that the killed server was not at asked everything once",
        [(run, what) for run in runs if run not in steps for what in EVERYTHING if len(made.of(run, what)) != 1],
    )
    check(
        "runs that were taken over asked everything, and nothing more than twice",
        [(run, what) for run in steps for what in EVERYTHING if not 1 <= len(made.of(run, what)) <= 2],
    )
    check("each kill cut off orders", [kept.at for kept in kills if not cut_off(made, kept)])


async def main(count: int, made: World, place: Stack) -> None:
    """The four parts, and what has to hold of them."""
    servers = [place.start(CONFIG)]
    with Record(place.database) as record:
        one = await measured(record, servers, "1", count)
        servers.append(place.start(CONFIG))
        two = await measured(record, servers, "2", count)
        three, first = await with_a_kill(record, made, servers, count)
        servers = [servers[1], place.start(CONFIG)]
        four, second = await approved(record, made, servers)
        check_all(record, made, [*one, *two, *three, *four], [first, second])


def run(count: int, seconds: float) -> None:
    """Within the time, and with everything ended after it."""
    with world(SECONDS) as made:
        settings = {"LLM_BASE_URL": f"{made.url}/v1", "LLM_MODEL_ID": "scripted", "LLM_API_KEY": "none"}
        with stack(WORLD=made.url, **settings) as place:
            asyncio.run(asyncio.wait_for(main(count, made, place), seconds))


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    try:
        run(*(given + [200, 900][len(given) :]))
    except (Failed, TimeoutError) as error:
        sys.exit(str(error) or "FAILED: the time is over")
