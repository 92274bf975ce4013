"""English words that carry no subject matter; used for summaries and for matching requests with tools."""

_WORDS = """
a about above after all also am an and any are as at be because been before being below between both but by
can could did do does doing down during each few for from further get give given had has have having he her
here hers him his how i if in into is it its itself just let like me more my need no nor not now of on or our
ours out over own per please she should show so some such tell than that the their theirs them then there
these they this those through to too under until up us use using very want was we were what what's when where
which while who whom why will with would you your yours i'm i'd i've it's that's i'll find know
"""
STOP = frozenset(_WORDS.split())
