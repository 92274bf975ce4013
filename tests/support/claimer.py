"""A program that claims a write in a journal and stays until it is killed: `python -m tests.support.claimer KEY`.

The journal is that of the environment, as for any run.
"""

import sys
import time

from state.context import Context
from tools.journals import journal_of

if __name__ == "__main__":
    journal_of(Context()).claim(sys.argv[1], "another request", "s", "pay", {})
    print("claimed", flush=True)
    time.sleep(600)
