"""The root of a stage: what its parts give in a step, as it goes to the next stage."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.operators.relations.changes import Changes, no_changes
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.relations.exchange_algebra import Sent

__all__ = ["SentOperator"]


class SentOperator(RelationOperator):
    """Passes on what it is given; given: by the last step, of each part."""

    def __init__(self, node: Sent) -> None:
        del node
        self.given: tuple[Changes, ...] = ()

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The node itself has no rows."""
        del until
        self.given = tuple(inputs)
        return no_changes(())

    @property
    def nbytes(self) -> int:
        """Nothing is kept from step to step."""
        return 0
