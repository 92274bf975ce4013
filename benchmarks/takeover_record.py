"""What the database of the servers says of the runs: a trigger keeps every change of hands with its time."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph_sdk import get_client

import graphs

GRAPH = "ordering"
_MOVES = """
CREATE TABLE moves (thread text, status text, owner text, at float8);
CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO moves VALUES (NEW.thread_id, NEW.status, NEW.claimed_by, extract(epoch FROM clock_timestamp()));
  RETURN NEW;
END $$;
CREATE TRIGGER moves AFTER INSERT OR UPDATE OF status, claimed_by ON runs FOR EACH ROW EXECUTE FUNCTION note_move();
"""
_OPEN = ("pending", "running")


@dataclass(frozen=True)
class Kept:
    """The moment of a kill, and the finished steps that the database had by then, by run."""

    at: float
    steps: Mapping[str, set[str]]

    @property
    def runs(self) -> list[str]:
        """The runs that the killed server was at."""
        return list(self.steps)


class Record:
    """Starts runs, each on a thread of its own, and asks the database what became of them."""

    def __init__(self, database: str) -> None:
        self._url = database
        self._threads: dict[str, str] = {}

    def __enter__(self) -> "Record":
        self._db = psycopg.connect(self._url, autocommit=True)
        self._db.execute(_MOVES)
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    async def submit(self, runs: Sequence[str], urls: Sequence[str], **context: Any) -> None:
        """Starts the runs at these servers in turn, a few at a time."""
        clients = [get_client(url=url) for url in urls]
        slots = asyncio.Semaphore(8)

        async def start(number: int, run: str) -> None:
            client = clients[number % len(clients)]
            async with slots:
                thread = (await client.threads.create())["thread_id"]
                self._threads[run] = thread
                await client.runs.create(thread, GRAPH, input={"task": run}, context=context, durability="sync")

        await asyncio.gather(*(start(number, run) for number, run in enumerate(runs)))
        for client in clients:
            await client.aclose()

    async def approve(self, runs: Sequence[str], url: str) -> None:
        """Approves what these runs wait for."""
        async with get_client(url=url) as client:
            await asyncio.gather(*(self._approve(client, self._threads[run]) for run in runs))

    async def _approve(self, client: Any, thread: str) -> None:
        state = await client.threads.get_state(thread)
        asked = [one["id"] for part in state["tasks"] for one in part["interrupts"]]
        answer = {"resume": {one: {"decisions": [{"type": "approve"}]} for one in asked}}
        await client.runs.create(thread, GRAPH, command=answer, durability="sync")

    async def wait(self, runs: Sequence[str]) -> None:
        """Until all of them have ended, or wait for a person."""
        while self.count_open(runs):
            await asyncio.sleep(0.1)

    def count_open(self, runs: Sequence[str]) -> int:
        """How many of them have not."""
        sql = "SELECT count(*) FROM runs WHERE thread_id = ANY(%s) AND status = ANY(%s)"
        return int(self._one(sql, [self._threads[run] for run in runs], list(_OPEN)))

    def at_work(self, program: int) -> list[str]:
        """The runs that the server with this process number is at."""
        sql = "SELECT thread_id FROM runs WHERE status = 'running' AND claimed_by LIKE %s"
        threads = {thread for (thread,) in self._rows(sql, f"%-{program}-worker-%")}
        return [run for run, thread in self._threads.items() if thread in threads]

    async def kept(self, at: float, runs: Sequence[str]) -> Kept:
        """The finished steps of these runs, also of a round that was still going on."""
        async with AsyncPostgresSaver.from_conn_string(self._url) as saver:
            graph = graphs.load("plan_and_execute", checkpointer=saver)
            return Kept(at, {run: await self._steps(graph, saver, run) for run in runs})

    async def _steps(self, graph: Any, saver: AsyncPostgresSaver, run: str) -> set[str]:
        config: Any = {"configurable": {"thread_id": self._threads[run]}}
        found = await saver.aget_tuple(config)
        writes = found.pending_writes if found and found.pending_writes else []
        open_round = [value for _, channel, value in writes if channel == "__return__"]
        values = (await graph.aget_state(config)).values
        finished = [*values.get("results", {}).values(), *open_round]
        done = {result["step"] for result in finished if result["status"] == "done"}
        return done | ({"plan"} if values.get("plans") else set())

    def created(self, run: str) -> float:
        """When it was asked for."""
        return self._at(run, "true")

    def ended(self, run: str) -> float:
        """When it had ended."""
        return self._at(run, "NOT status = ANY(%s)", list(_OPEN))

    def given_up(self, run: str, since: float) -> float:
        """When it was put back into the queue after that time."""
        return self._at(run, "at > %s AND status = 'pending'", since)

    def taken(self, run: str, since: float) -> float:
        """When another server had it after that time."""
        return self._at(run, "at > %s AND status = 'running' AND owner IS NOT NULL", since)

    def outcome(self, run: str) -> tuple[str, str]:
        """The server's word for its end, and ours."""
        sql = "SELECT status, coalesce(output#>>'{report,stop,reason}', '') FROM runs WHERE thread_id = %s"
        rows = self._rows(f"{sql} ORDER BY created_at DESC LIMIT 1", self._threads[run])
        return rows[0] if rows else ("lost", "")

    def journal(self, run: str) -> list[str]:
        """The states of its writes in the journal."""
        sql = "SELECT state FROM forethought.writes WHERE args LIKE %s"
        return [state for (state,) in self._rows(sql, f'%"{run}"%')]

    def _at(self, run: str, condition: str, *values: Any) -> float:
        sql = f"SELECT min(at) FROM moves WHERE thread = %s AND {condition}"
        return float(self._one(sql, self._threads[run], *values))

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        return self._db.execute(sql.encode(), values).fetchall()

    def _one(self, sql: str, *values: Any) -> Any:
        return self._rows(sql, *values)[0][0]
