"""What a tree asks of the operator of one node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from windrow.operators.relations.changes import Changes

__all__ = ["NO_LIMIT", "RelationOperator", "StepTooLargeError"]

NO_LIMIT = 1 << 62


class StepTooLargeError(Exception):
    """A step gives more changes than its limit: it has to be undone, and made in smaller ones.

    events: of windows in the step, once they are known.
    """

    def __init__(self, changes: int) -> None:
        super().__init__(f"{changes} changes in one step")
        self.changes = changes
        self.events = 1


class RelationOperator(ABC):
    """Maintains one node of the algebra over changing inputs.

    Its state is a function of the relations that its inputs hold, never of how these came about:
    a new operator that is given the rows held now, as changes of one instant, continues as this one
    does. So a step that fails needs no undoing here: the tree makes all operators anew.

    The changes that advance() returns, added up, are the node's relation at each instant. Where
    nothing has come yet a relation may have rows already (the COUNT of nothing is 0): the first
    call of advance() gives these at START_OF_TIME.
    """

    @abstractmethod
    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """Take the changes of all inputs up to `until`, inclusive; give what follows of them.

        All changes are later than the last `until`. Work and state are proportional to the changes
        and to what must be remembered; the result does not depend on how changes were cut into
        calls.
        """

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of everything that it remembers."""

    def restrict(self, limit: int) -> None:
        """A step in which it finds more changes than this raises StepTooLargeError, if it can."""
        del limit

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes of its inputs may need."""
        del changes
        return self.nbytes
