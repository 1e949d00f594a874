"""The aggregation tree: the past stays answerable, at coarser and coarser grain.

    rows -> [region 0: adaptive leaves | region 1: nodes of level 1 | ...] -> archive

Levels are granularities, each a multiple of the finer one, with a retention each. A tree is kept
for every group; levels, calendar and horizons are shared. Only the frontier of a tree is stored,
the leaves in order of time: an inner node is the sum of the leaves below it, which a query finds as
fast as it would read a stored one.

Region 0 is as old as the retention of the finest level. A leaf there is the coarsest node that has
at most `split_above` rows, and keeps these rows, which take less memory than the nodes that would
hold them; a node of the finest level keeps its aggregates only. The shape is a function of the rows
alone: neither order nor batching shows. Behind the horizon of region 0 come nodes of level 1, those
without rows left out; behind the next horizon nodes of level 2; what falls behind the last goes to
the archive, or is forgotten and only summed up. Horizons move by whole nodes of the next level.

The leaves of a group lie side by side in columns (cells/), the rows of leaves in columns of their
own (leaves/). Sixteen neighbours make a block with an aggregate of its own, sixteen blocks a larger
one: a range is a few dozen additions, whatever its length. Nothing is ever subtracted, so that a
NaN, an infinity or 1e300 is felt only by the ranges that hold it; prefix sums would be quicker
still, and carry it on. Sums are pairs of doubles: integers are exact to 2**100, the error of a sum
of doubles is below 2**-95 of the sum of their sizes.

An interval that cuts a node gets an estimate between hard bounds (answers/).
"""
