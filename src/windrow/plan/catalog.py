"""The catalog: which streams, tables and views there are. Names are looked up in any case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from windrow.errors import BindingError, Place
from windrow.plan.nearest import nearest
from windrow.plan.session_zone import DEFAULT_ZONE
from windrow.schema import StreamSchema
from windrow.sql.statements import QueryText
from windrow.table_schema import TableSchema

__all__ = ["Catalog", "View"]


@dataclass(frozen=True)
class View:
    """A query under a name; text: as it was written."""

    name: str
    query: QueryText
    text: str


@dataclass(frozen=True, init=False)
class Catalog(Mapping[str, StreamSchema]):
    """A frozen mapping of stream names to their schemas; views and tables are apart from them.

    time_zone: in which the times of its queries are meant.
    """

    streams: tuple[StreamSchema, ...]
    views: tuple[View, ...]
    tables: tuple[TableSchema, ...]
    time_zone: str

    def __init__(
        self,
        *streams: StreamSchema,
        views: tuple[View, ...] = (),
        tables: tuple[TableSchema, ...] = (),
        time_zone: str = DEFAULT_ZONE,
    ) -> None:
        object.__setattr__(self, "streams", streams)
        object.__setattr__(self, "views", views)
        object.__setattr__(self, "tables", tables)
        object.__setattr__(self, "time_zone", time_zone)

    def __getitem__(self, name: str) -> StreamSchema:
        for stream in self.streams:
            if stream.name.lower() == name.lower():
                return stream
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (stream.name for stream in self.streams)

    def __len__(self) -> int:
        return len(self.streams)

    def with_stream(self, schema: StreamSchema) -> Catalog:
        """The same catalog with one more stream; a name cannot be declared twice."""
        self._check_free(schema.name)
        return self._with(streams=(*self.streams, schema))

    def with_view(self, view: View) -> Catalog:
        """The same catalog with one more view; its name is that of no stream."""
        self._check_free(view.name)
        return self._with(views=(*self.views, view))

    def without_view(self, name: str) -> Catalog:
        """The same, but for one view."""
        return self._with(views=tuple(each for each in self.views if each.name != name))

    def with_table(self, schema: TableSchema) -> Catalog:
        """The same catalog with one more table; its name is that of no stream or view."""
        self._check_free(schema.name)
        return self._with(tables=(*self.tables, schema))

    def with_time_zone(self, name: str) -> Catalog:
        """The same catalog, with the times of queries meant in that zone."""
        return self._with(time_zone=name)

    def _with(
        self,
        streams: tuple[StreamSchema, ...] | None = None,
        views: tuple[View, ...] | None = None,
        tables: tuple[TableSchema, ...] | None = None,
        time_zone: str | None = None,
    ) -> Catalog:
        return Catalog(
            *(self.streams if streams is None else streams),
            views=self.views if views is None else views,
            tables=self.tables if tables is None else tables,
            time_zone=self.time_zone if time_zone is None else time_zone,
        )

    def table(self, name: str) -> TableSchema | None:
        """The table of that name, if there is one."""
        return next((each for each in self.tables if each.name.lower() == name.lower()), None)

    def view(self, name: str) -> View | None:
        """The view of that name, if there is one."""
        return next((each for each in self.views if each.name.lower() == name.lower()), None)

    def stream(self, name: str, place: Place | None = None) -> StreamSchema:
        """The stream of that name, or an error that names the nearest one."""
        if name in self:
            return self[name]
        tables = [each.name for each in self.tables]
        names = [*self, *tables, *(each.name for each in self.views)]
        guess = nearest(name, names)
        known = ", ".join(names) or "none yet; declare one first"
        kinds = {"streams": True, "tables": bool(self.tables), "views": bool(self.views)}
        listed = " and ".join(kind for kind, has in kinds.items() if has)
        hint = f"did you mean {guess}?" if guess else f"the {listed} are: {known}"
        raise BindingError("WB201", f"there is no stream {name!r}", hint=hint, place=place)

    def _check_free(self, name: str) -> None:
        if name in self:
            raise BindingError(
                "WB200",
                f"a stream {self[name].name!r} exists already",
                hint="stream names must differ by more than case",
            )
        view = self.view(name)
        if view is not None:
            raise BindingError(
                "WB207",
                f"a view {view.name!r} exists already",
                hint="names of streams and views must differ by more than case",
            )
        table = self.table(name)
        if table is not None:
            raise BindingError(
                "WB718",
                f"a table {table.name!r} exists already",
                hint="names of streams, tables and views must differ by more than case",
            )
