"""Packages that only some runs need, and the one way to say how they are installed: from the project's folder."""


def extra(name: str) -> str:
    """An extra as an error names it, with how it is installed."""
    return f"the extra {name} (pip install -e '.[{name}]' in the folder of forethought)"
