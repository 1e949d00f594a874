"""The catalog: which streams there are. Names are looked up as in Spark, whatever their case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from windrow.errors import BindingError, Place
from windrow.plan.nearest import nearest
from windrow.schema import StreamSchema

__all__ = ["Catalog"]


@dataclass(frozen=True, init=False)
class Catalog(Mapping[str, StreamSchema]):
    """A frozen mapping of stream names to their schemas."""

    streams: tuple[StreamSchema, ...]

    def __init__(self, *streams: StreamSchema) -> None:
        object.__setattr__(self, "streams", streams)

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
        if schema.name in self:
            raise BindingError(
                "WB200",
                f"a stream {self[schema.name].name!r} exists already",
                hint="stream names must differ by more than case",
            )
        return Catalog(*self.streams, schema)

    def stream(self, name: str, place: Place | None = None) -> StreamSchema:
        """The stream of that name, or an error that names the nearest one."""
        if name in self:
            return self[name]
        guess = nearest(name, self)
        known = ", ".join(self) or "none yet; declare one first"
        hint = f"did you mean {guess}?" if guess else f"the streams are: {known}"
        raise BindingError("WB201", f"there is no stream {name!r}", hint=hint, place=place)
