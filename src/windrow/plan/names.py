"""Columns by name: which input a name means, and what was probably meant when it means none."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from windrow.errors import BindingError, Place
from windrow.plan.expressions import ColumnRef
from windrow.plan.nearest import nearest
from windrow.schema import Column, StreamSchema
from windrow.sql.places import place_of

__all__ = ["NamedInput", "Names", "column_named"]


@dataclass(frozen=True)
class NamedInput:
    """An input under the name that the query gives it."""

    alias: str
    stream: StreamSchema


@dataclass(frozen=True)
class Names:
    """The inputs of a query, in the order of FROM."""

    text: str
    inputs: tuple[NamedInput, ...]

    def resolve(self, node: exp.Column) -> ColumnRef:
        """The column that the node names."""
        found = self.find(node)
        if len(found) == 1:
            return found[0]
        raise self._ambiguous(node, found) if found else self._unknown(node)

    def find(self, node: exp.Column) -> list[ColumnRef]:
        """All columns that the node may mean: one, unless the query is wrong."""
        return [
            ColumnRef(source, column.name, column.type)
            for source in self.sources(node)
            if (column := column_named(self.inputs[source].stream, node.name)) is not None
        ]

    def sources(self, node: exp.Column) -> list[int]:
        """The inputs that the node's qualifier allows: all, without one."""
        if not node.table:
            return list(range(len(self.inputs)))
        aliases = [entry.alias.lower() for entry in self.inputs]
        if node.args.get("db") is None and node.table.lower() in aliases:
            return [aliases.index(node.table.lower())]
        raise self._unknown_input(node)

    def _unknown_input(self, node: exp.Column) -> BindingError:
        names = [entry.alias for entry in self.inputs]
        guess = nearest(node.table, names)
        written = ".".join(part.name for part in node.parts[:-1])
        streams = [entry.stream.name.lower() for entry in self.inputs]
        if node.table.lower() in streams:
            guess = names[streams.index(node.table.lower())]
        hint = f"did you mean {guess}?" if guess else f"FROM names {', '.join(names)}"
        return BindingError(
            "WB205", f"FROM names no {written!r}", hint=hint, place=place_of(node, self.text)
        )

    def _ambiguous(self, node: exp.Column, found: list[ColumnRef]) -> BindingError:
        choices = " or ".join(f"{self.inputs[ref.source].alias}.{ref.column}" for ref in found)
        return BindingError(
            "WB204",
            f"column {node.name!r} is ambiguous",
            hint=f"write {choices}",
            place=place_of(node, self.text),
        )

    def _unknown(self, node: exp.Column) -> BindingError:
        sources = self.sources(node)
        qualify = len(sources) > 1
        names = {
            column.name: f"{self.inputs[source].alias}.{column.name}" if qualify else column.name
            for source in sources
            for column in self.inputs[source].stream.columns
        }
        within = " or ".join(repr(self.inputs[source].alias) for source in sources)
        return BindingError(
            "WB203",
            f"there is no column {node.name!r} in {within}",
            hint=_meant(node.name, names),
            place=_column_place(node, self.text),
        )


def _meant(name: str, names: dict[str, str]) -> str:
    guess = nearest(name, names)
    listed = f"the columns are {', '.join(names.values())}"
    return f"did you mean {names[guess]}? {listed}" if guess else listed


def _column_place(node: exp.Column, text: str) -> Place | None:
    return place_of(node.this, text) or place_of(node, text)


def column_named(stream: StreamSchema, name: str) -> Column | None:
    """The column of that name: the same spelling, else the same but for upper and lower case."""
    same = [column for column in stream.columns if column.name == name]
    alike = [column for column in stream.columns if column.name.lower() == name.lower()]
    return next(iter(same or alike), None)
