"""Parts of a tree that differ in nothing but the ids of their columns run once.

A name of WITH that is read twice is bound twice, and so is a sub-query written twice: each copy has
ids of its own. Once the blocks are formed the first copy stays, and the others become its columns
under their own ids: so all expressions above keep their meaning. It is done behind the blocks
because two windows that one block joins are cheaper than one that is read twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from windrow.plan.expressions import ColumnRef
from windrow.plan.relations.algebra import Field, Item, Project, Relation, Values
from windrow.plan.relations.blocks import Block, SessionBlock
from windrow.plan.relations.union_blocks import UnionBlock

__all__ = ["count_readers", "share_parts"]

# In the place of an input, where a node is compared without what it reads.
_ANYTHING = Values((), ())


def share_parts(relation: Relation) -> Relation:
    """The relation in which parts that mean the same are the same node."""
    return _Sharing().of(relation)


def count_readers(relation: Relation) -> Counter[Relation]:
    """How many times each different node is read by others; the result counts once."""
    found = Counter([relation])
    waiting = [relation]
    while waiting:
        for part in waiting.pop().inputs:
            if part not in found:
                waiting.append(part)
            found[part] += 1
    return found


class _Sharing:
    """Numbers forms: nodes have the same form where they differ in ids alone."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Relation, tuple[int, ...]], int] = {}
        self._form: dict[int, int] = {}
        self._first: dict[int, Relation] = {}

    def of(self, relation: Relation) -> Relation:
        """The first node of its form, under the ids of this one."""
        self._number(relation)
        return self._shared(relation)

    def _number(self, relation: Relation) -> int:
        """The number of its form; inputs first. Nodes live as long as the tree, so by identity."""
        known = self._form.get(id(relation))
        if known is not None:
            return known
        inputs = tuple(self._number(part) for part in relation.inputs)
        number = self._numbers.setdefault((_form(relation), inputs), len(self._numbers))
        self._form[id(relation)] = number
        return number

    def _shared(self, relation: Relation) -> Relation:
        number = self._form[id(relation)]
        first = self._first.get(number)
        if first is not None:
            return _under(relation.fields, first)
        parts = [self._shared(part) for part in relation.inputs]
        found = relation.with_inputs(*parts) if parts else relation
        self._first[number] = found
        return found


def _under(given: tuple[Field, ...], first: Relation) -> Relation:
    """The columns of the first node under the ids of another that means the same."""
    if given == first.fields:
        return first
    pairs = zip(given, first.fields, strict=True)
    return Project(first, tuple(Item(own, field.ref) for own, field in pairs))


def _form(relation: Relation) -> Relation:
    """The node with its own columns and those of its inputs named by their places."""
    inputs = relation.inputs
    ids = {
        field.id: f"{number}.{place}"
        for number, part in enumerate(inputs)
        for place, field in enumerate(part.fields)
    }
    for place, field in enumerate(relation.fields):
        ids.setdefault(field.id, f".{place}")
    if isinstance(relation, Block):
        return _form_of_block(relation, ids)
    own = relation.with_inputs(*(_ANYTHING,) * len(inputs)) if inputs else relation
    form: Relation = _renamed(own, ids)
    return form


def _form_of_block(block: Block, ids: Mapping[str, str]) -> Block:
    """Inside a block columns are those of streams: only those of its answer have ids."""
    plan = block.plan
    select = tuple(replace(column, name=ids[column.name]) for column in plan.select)
    given = tuple(replace(field, id=ids[field.id]) for field in block.given)
    form = replace(block, plan=replace(plan, select=select), given=given)
    if isinstance(form, SessionBlock):
        return replace(form, bounds=_renamed(form.bounds, ids))
    if isinstance(form, UnionBlock):
        return replace(form, parts=tuple(_form_of_block(part, ids) for part in form.parts))
    return form


def _renamed(value: Any, ids: Mapping[str, str]) -> Any:
    """A node, or a part of one, with other ids."""
    if isinstance(value, Field):
        return replace(value, id=ids.get(value.id, value.id))
    if isinstance(value, ColumnRef):
        return replace(value, column=ids.get(value.column, value.column))
    if isinstance(value, tuple):
        return tuple(_renamed(part, ids) for part in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    parts = {each.name: _renamed(getattr(value, each.name), ids) for each in fields(value)}
    return type(value)(**parts)
