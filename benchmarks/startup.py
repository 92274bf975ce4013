"""CPU of a start: ours, a bare LangGraph, and LangChain's agent, each in new processes, in turn.

Run: `python -m benchmarks.startup [ROUNDS]`. The start of Python itself is taken off. Measured, never asserted.
"""

import resource
import statistics
import subprocess
import sys

STARTS = {
    "python": ["-c", "pass"],
    "import graphs": ["-c", "import graphs"],
    "forethought --help": ["-m", "graphs.cli", "--help"],
    "graphs.load('one_shot')": ["-c", "import graphs; graphs.load('one_shot')"],
    "import langgraph.graph": ["-c", "import langgraph.graph"],
    "create_agent": ["-c", "from langchain.agents import create_agent\nfrom langchain_openai import ChatOpenAI"],
}


def cpu(arguments: list[str]) -> float:
    """Seconds that a new process takes for this."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(rounds: int) -> dict[str, float]:
    """The median of each start, without that of Python."""
    taken: dict[str, list[float]] = {name: [] for name in STARTS}
    for _ in range(rounds + 1):
        for name, arguments in STARTS.items():
            taken[name].append(cpu(arguments))
    medians = {name: statistics.median(times[1:]) for name, times in taken.items()}  # the first fills the caches
    return {name: seconds - medians["python"] for name, seconds in medians.items() if name != "python"}


def main(rounds: int) -> None:
    """One line for each start."""
    found = measured(rounds)
    for name, seconds in found.items():
        print(
            f"{name:24} {seconds * 1000:6.0f} ms CPU   {seconds / found['create_agent']:.3f} of create_agent's import"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
