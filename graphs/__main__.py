"""`python -m graphs` is the command `forethought`."""

from graphs.cli import main

if __name__ == "__main__":
    main()
