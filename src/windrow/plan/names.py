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
    """An input under the name that the query gives it, at its position in the plan."""

    alias: str
    stream: StreamSchema
    input_index: int


@dataclass(frozen=True)
class Names:
    """The inputs that names can mean, those of `outer` where no own one has the name.

    hidden: inputs that are negated; no name outside their own conditions can mean them.
    """

    text: str
    inputs: tuple[NamedInput, ...]
    outer: Names | None = None
    hidden: tuple[NamedInput, ...] = ()

    def resolve(self, node: exp.Column) -> ColumnRef:
        """The column that the node names."""
        found = self.find(node)
        if len(found) == 1:
            return found[0]
        raise self._ambiguous(node) if found else self._unknown(node)

    def find(self, node: exp.Column) -> list[ColumnRef]:
        """All columns that the node may mean: one, unless the query is wrong."""
        return [
            ColumnRef(entry.input_index, column.name, column.type)
            for entry, column in self._found(node)
        ]

    def is_field(self, node: exp.Column) -> bool:
        """Whether a.b is no column b of an input a, but may be field b of a column a."""
        if not node.table or node.args.get("db") is not None:
            return False
        inputs = (*self.inputs, *(self.outer.inputs if self.outer else ()))
        named = [entry for entry in inputs if entry.alias.lower() == node.table.lower()]
        if any(column_named(entry.stream, node.name) is not None for entry in named):
            return False
        found = [column_named(entry.stream, node.table) for entry in inputs]
        # The name of an input, too: it is the column only if that has something inside.
        return any(each is not None and (not named or each.type.is_nested) for each in found)

    def entries(self, node: exp.Column) -> tuple[NamedInput, ...]:
        """The inputs that the node's qualifier allows: all, without one."""
        return tuple(entry for level in self._levels(node) for entry in level)

    def _found(self, node: exp.Column) -> list[tuple[NamedInput, Column]]:
        """The columns of that name, in the innermost scope that has any."""
        for level in self._levels(node):
            columns = [(entry, column_named(entry.stream, node.name)) for entry in level]
            found = [(entry, column) for entry, column in columns if column is not None]
            if found:
                return found
        return []

    def _levels(self, node: exp.Column) -> list[tuple[NamedInput, ...]]:
        levels = [self.inputs] if self.outer is None else [self.inputs, self.outer.inputs]
        if not node.table:
            return levels
        for level in levels if node.args.get("db") is None else ():
            named = [entry for entry in level if entry.alias.lower() == node.table.lower()]
            if named:
                return [tuple(named)]
        raise self._unknown_input(node)

    def _unknown_input(self, node: exp.Column) -> BindingError:
        place = place_of(node, self.text)
        written = ".".join(part.name for part in node.parts[:-1])
        if written.lower() in [entry.alias.lower() for entry in self.hidden]:
            return _negated(written, place)
        inputs = (*self.inputs, *(self.outer.inputs if self.outer else ()))
        names = [entry.alias for entry in inputs]
        guess = nearest(node.table, names)
        streams = [entry.stream.name.lower() for entry in inputs]
        if node.table.lower() in streams:
            guess = names[streams.index(node.table.lower())]
        hint = f"did you mean {guess}?" if guess else f"FROM names {', '.join(names)}"
        return BindingError("WB205", f"FROM has no {written!r}", hint=hint, place=place)

    def _ambiguous(self, node: exp.Column) -> BindingError:
        found = self._found(node)
        choices = " or ".join(f"{entry.alias}.{column.name}" for entry, column in found)
        return BindingError(
            "WB204",
            f"column {node.name!r} is ambiguous",
            hint=f"write {choices}",
            place=place_of(node, self.text),
        )

    def _unknown(self, node: exp.Column) -> BindingError:
        entries = self.entries(node)
        place = _column_place(node, self.text)
        for entry in self.hidden if not node.table else ():
            if column_named(entry.stream, node.name) is not None:
                return _negated(entry.alias, place)
        names = {
            column.name: f"{entry.alias}.{column.name}" if len(entries) > 1 else column.name
            for entry in entries
            for column in entry.stream.columns
        }
        within = " or ".join(repr(entry.alias) for entry in entries)
        return BindingError(
            "WB203",
            f"there is no column {node.name!r} in {within}",
            hint=_meant(node.name, names),
            place=place,
        )


def _negated(alias: str, place: Place | None) -> BindingError:
    return BindingError(
        "WB206",
        f"{alias!r} is negated: rows of {alias} never reach the result",
        hint=f"only the condition of the LEFT ANTI JOIN or NOT EXISTS may name {alias}",
        place=place,
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
