"""Many numbers to one: sum, product, difference, quotient, average, remainder."""

from nodes.offline import formula as f
from nodes.offline.draft import NotUnderstood
from nodes.offline.formula import Formula
from nodes.offline.reader import NoFormula

OF_WHAT = "a percentage is added or subtracted without saying of what (say: increase … by … percent)"
REDUCTIONS = {"sum", "product", "difference", "quotient", "average", "remainder"}


def reduce(kind: str, parts: list[Formula]) -> Formula:
    """Sum, product, difference and so on of several formulas; raises `NoFormula` where the number of them is wrong."""
    if len(parts) == 1 and parts[0].listed:
        return _over_list(kind, parts[0])
    if len(parts) < 2 or (len(parts) > 2 and kind in ("difference", "quotient", "remainder")):
        raise NoFormula
    if any(part.percent for part in parts) and kind in ("sum", "difference", "average"):
        raise NotUnderstood(OF_WHAT)
    if kind == "average":
        return f.average(parts)
    if kind == "difference":
        return f.call("abs", f.chain("-", parts))
    return f.chain({"sum": "+", "product": "*", "quotient": "/", "remainder": "%"}[kind], parts)


def _over_list(kind: str, of: Formula) -> Formula:
    name = {"sum": "sum", "average": "mean"}.get(kind)
    if name is None:
        raise NotUnderstood(f"the {kind} of a whole list is not understood")
    return f.call(name, Formula(of.text))
