"""Columns by name within one FROM: what a name can mean, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from windrow.errors import BindingError, Place
from windrow.plan.nearest import nearest
from windrow.plan.relations.algebra import Field
from windrow.sql.places import place_of

__all__ = ["Table", "Visible", "negated_error"]


@dataclass(frozen=True)
class Table:
    """An item of FROM under the name that the query gives it; fields: named as it names them.

    stream: the name of what it reads, '' for a query.
    """

    alias: str
    fields: tuple[Field, ...]
    stream: str = ""

    def has(self, name: str) -> bool:
        """Whether it has a column of that name."""
        return bool(_named(self.fields, name))


@dataclass(frozen=True)
class Visible:
    """What FROM shows: its tables by qualifier, and the columns that * stands for.

    A column of USING is one of `columns`, and one in each of both tables. hidden: tables whose rows
    never reach the result.
    """

    text: str
    tables: tuple[Table, ...] = ()
    columns: tuple[Field, ...] = ()
    hidden: tuple[Table, ...] = ()

    def find(self, node: exp.Column) -> Field | None:
        """The column that the node names, None where the qualifier or the name is not known here.

        A qualifier that is known without the column is an error, and so is an ambiguous name.
        """
        if not node.table:
            found = self._alike(node.name)
        else:
            table = self._table(node)
            if table is None:
                return None
            found = _named(table.fields, node.name)
            if not found:
                raise self.unknown(node, (table,))
        if len(found) > 1:
            raise self._ambiguous(node, found)
        return found[0] if found else None

    def has(self, node: exp.Column) -> bool:
        """Whether it names something here, be it ambiguous."""
        if node.table:
            return self._table(node) is not None
        return bool(self._alike(node.name))

    def table_of(self, node: exp.Column) -> Table:
        """The table of t.*."""
        found = self._table(node)
        if found is None:
            raise self.unknown_table(node, self.tables)
        return found

    def unknown(self, node: exp.Column, tables: Sequence[Table]) -> BindingError:
        """The error for a name that none of the tables has."""
        place = place_of(node.this, self.text) or place_of(node, self.text)
        for table in self.hidden if not node.table else ():
            if _named(table.fields, node.name):
                return negated_error(table.alias, place)
        names = {
            field.name: f"{table.alias}.{field.name}"
            if len(tables) > 1 and table.alias
            else field.name
            for table in tables
            for field in table.fields
        }
        within = " or ".join(repr(table.alias) for table in tables if table.alias)
        guess = nearest(node.name, names)
        listed = f"the columns are {', '.join(names.values())}" if names else "there is no FROM"
        return BindingError(
            "WB203",
            f"there is no column {node.name!r}" + (f" in {within}" if within else ""),
            hint=f"did you mean {names[guess]}? {listed}" if guess else listed,
            place=place,
        )

    def unknown_table(self, node: exp.Column, tables: Sequence[Table]) -> BindingError:
        """The error for a qualifier that FROM does not name."""
        place = place_of(node, self.text)
        written = ".".join(part.name for part in node.parts[:-1])
        if written.lower() in [table.alias.lower() for table in self.hidden]:
            return negated_error(written, place)
        names = [table.alias for table in tables if table.alias]
        streams = {table.stream.lower(): table.alias for table in tables if table.stream}
        guess = streams.get(node.table.lower()) or nearest(node.table, names)
        listed = f"FROM names {', '.join(names)}" if names else "FROM names nothing"
        hint = f"did you mean {guess}?" if guess else listed
        return BindingError("WB205", f"FROM has no {written!r}", hint=hint, place=place)

    def owner(self, field: Field) -> str:
        """The alias of the table that has the column, '' for a merged one."""
        owners = (
            table.alias for table in self.tables for own in table.fields if own.id == field.id
        )
        return next(owners, "")

    def _table(self, node: exp.Column) -> Table | None:
        if node.args.get("db") is not None:
            return None
        named = node.table.lower()
        return next((table for table in self.tables if table.alias.lower() == named), None)

    def _alike(self, name: str) -> list[Field]:
        """The columns of that name; of one table, those of the same case come first."""
        found: list[Field] = []
        by_owner: dict[str, list[Field]] = {}
        for field in self.columns:
            if field.name.lower() == name.lower():
                by_owner.setdefault(self.owner(field), []).append(field)
        for fields in by_owner.values():
            found += [field for field in fields if field.name == name] or fields
        return found

    def _ambiguous(self, node: exp.Column, found: Iterable[Field]) -> BindingError:
        owners = [(self.owner(field), field.name) for field in found]
        if len(set(owners)) == len(owners) and all(owner for owner, _ in owners):
            hint = "write " + " or ".join(f"{owner}.{name}" for owner, name in owners)
        else:
            hint = "give the columns names of their own where they are selected: x AS name"
        return BindingError(
            "WB204",
            f"column {node.name!r} is ambiguous",
            hint=hint,
            place=place_of(node, self.text),
        )


def negated_error(alias: str, place: Place | None) -> BindingError:
    """A name of an input of which no row reaches the result."""
    return BindingError(
        "WB206",
        f"{alias!r} is negated or only looked up: rows of {alias} never reach the result",
        hint=f"only the condition of its SEMI or ANTI JOIN, or its sub-query, may name {alias}",
        place=place,
    )


def _named(fields: Sequence[Field], name: str) -> list[Field]:
    same = [field for field in fields if field.name == name]
    return same or [field for field in fields if field.name.lower() == name.lower()]
