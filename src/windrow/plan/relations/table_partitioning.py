"""How tables are partitioned with the rows of a tree: by their keys, or as a copy in each bucket.

The same holds of relations with a row or so that a stage is given.

The versions of a row must meet in one bucket, wherever its other columns lead it: so a table can be
partitioned by nothing but columns of its key. Where a join asks for others, and keeps no row of
the table for its own sake, each bucket has a copy of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.relations.algebra import (
    AsOfJoin,
    Join,
    Relation,
    TableScan,
    VersionScan,
    walk_relations,
)
from windrow.plan.relations.blocks import Block
from windrow.plan.relations.exchange_algebra import Received
from windrow.plan.relations.leaves import Values, ViewScan
from windrow.plan.relations.references import read_ids, substituted

__all__ = [
    "Place",
    "clash",
    "copied_inputs",
    "copied_relations",
    "copied_tables",
    "places_of_tables",
    "way_of_table",
    "whole_tables",
    "words_of_tables",
]

# An input of a block by its number; a table by its name, or a relation that a stage is given, with
# 0 where each row is in one bucket, and 1 where all have copies.
Place = tuple[Relation | str, int]
Way = Mapping[Place, Expr | None]

_ONCE, _COPIED = 0, 1


def way_of_table(scan: TableScan | VersionScan, key: Expr | None) -> Way | None:
    """The table by a value of its key, or, without one, by all of it; None: it cannot be had."""
    if key is None:
        return {(scan.table, _ONCE): None}
    pairs = zip(scan.given, scan.places, strict=True)
    own = {field.id: place for field, place in pairs if place in scan.key}
    if not read_ids(key) <= own.keys():
        return None
    types = {field.id: field.type for field in scan.given}
    columns: dict[str, Expr] = {
        name: ColumnRef(0, f"c{place}", types[name]) for name, place in own.items()
    }
    return {(scan.table, _ONCE): substituted(key, columns)}


def copied_inputs(node: Join | AsOfJoin) -> Iterator[tuple[Relation, Way]]:
    """The input of a join whose rows stay where they are, and the copies that it is joined with."""
    sides = [(node.left, node.right)] if node.kind != "full" else []
    if isinstance(node, Join) and node.kind == "inner":
        sides.append((node.right, node.left))
    for kept, other in sides:
        copied = _copied_alone(other)
        # What meets small relations only is not worth many buckets.
        if copied and not (_given_rows(other) and _given_rows(kept)):
            yield kept, {(each, _COPIED): None for each in copied}


def _given_rows(relation: Relation) -> bool:
    """Whether all that it reads are small relations that the stage is given."""
    copied = _copied_alone(relation)
    return bool(copied) and not any(isinstance(each, str) for each in copied)


def _copied_alone(relation: Relation) -> tuple[Relation | str, ...]:
    """The tables and small relations of what reads nothing else; none where it does."""
    nodes = list(walk_relations(relation))
    if any(isinstance(node, Block | ViewScan | Values) for node in nodes):
        return ()
    given = [node for node in nodes if isinstance(node, Received)]
    if not all(node.is_small for node in given):
        return ()
    tables = (node.table for node in nodes if isinstance(node, TableScan | VersionScan))
    return tuple(dict.fromkeys([*tables, *given]))


def whole_tables(parts: Sequence[Relation]) -> Way:
    """Of the parts that are tables, all rows in each bucket."""
    scans = [part for part in parts if isinstance(part, TableScan | VersionScan)]
    return {(scan.table, _COPIED): None for scan in scans}


def clash(way: Way, place: Place) -> bool:
    """Whether rows are to be in one bucket each by one part, and copied by another one."""
    name, number = place
    return isinstance(name, str | Received) and (name, 1 - number) in way


def copied_tables(way: Way) -> frozenset[str]:
    """The tables of which all buckets have copies."""
    return frozenset(name for name, number in way if isinstance(name, str) and number == _COPIED)


def copied_relations(way: Way) -> frozenset[int]:
    """The numbers of what a stage is given of which all buckets have copies."""
    found = (name.number for name, own in way if isinstance(name, Received) and own == _COPIED)
    return frozenset(found)


def places_of_tables(tables: Sequence[str]) -> list[Place]:
    """Where a way says what rows of each table go by."""
    return [(name, _ONCE) for name in tables]


def words_of_tables(
    scans: Sequence[TableScan | VersionScan],
    copied: frozenset[str],
    tables: Sequence[str],
    keys: Sequence[tuple[Expr, ...]],
) -> list[str]:
    """For people: by what each table is partitioned, or that each bucket has a copy."""
    words = []
    for name, own in zip(tables, keys, strict=True):
        if name in copied:
            words.append(f"a copy of {name} in each")
            continue
        columns = {
            f"c{place}": field.name
            for scan in scans
            if scan.table == name
            for place, field in zip(scan.places, scan.given, strict=True)
        }
        read = sorted({columns[each] for key in own for each in read_ids(key)})
        words += [f"{name}.{column}" for column in read] or [f"the key of {name}"]
    return words
