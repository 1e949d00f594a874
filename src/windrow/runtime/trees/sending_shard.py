"""The shard of a stage that is not the last: what changes in its relations goes to the next one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from windrow.operators.partial import Partial
from windrow.operators.relations.changes import Changes, no_changes
from windrow.operators.relations.sent import SentOperator
from windrow.plan.relations.exchange_algebra import Sent
from windrow.runtime.trees.tree_shard import TreeShard

__all__ = ["SendingShard"]


class SendingShard(TreeShard):
    """A tree without a result of its own."""

    _told_firsts: Mapping[int, int] = MappingProxyType({})

    @property
    def _parts(self) -> Sent:
        root = self.plan.relation
        assert isinstance(root, Sent)
        return root

    @property
    def sent(self) -> dict[int, Changes]:
        """What the last step changed in each of the relations, by number."""
        root = self._tree.root
        assert isinstance(root, SentOperator)
        return dict(enumerate(root.given))

    def new_firsts(self) -> dict[int, int]:
        """Below each of the relations, the time of the first row of any stream, once for each."""
        firsts = {number: self._first_of(part) for number, part in enumerate(self._parts.parts)}
        found = {number: first for number, first in firsts.items() if first is not None}
        told, self._told_firsts = self._told_firsts, found
        return {number: first for number, first in found.items() if told.get(number) != first}

    def nothing(self) -> Partial:
        """Nothing changes."""
        types = [[field.type.arrow for field in part.fields] for part in self._parts.parts]
        root = self._tree.root
        assert isinstance(root, SentOperator)
        root.given = tuple(map(no_changes, types))
        return super().nothing()
