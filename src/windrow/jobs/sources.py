"""Sources of a script: parquet('path'), csv('path', header = TRUE), jsonl('path')."""

from __future__ import annotations

from dataclasses import dataclass, field

from windrow.errors import BindingError, Place
from windrow.jobs.options import Options
from windrow.plan.nearest import nearest
from windrow.sql.statements import Endpoint

__all__ = ["FORMATS", "FileSource", "source_of"]

_OPTIONS = {
    "parquet": ("path", "files_per_batch"),
    "csv": ("path", "header", "delimiter", "files_per_batch"),
    "jsonl": ("path", "files_per_batch"),
}
FORMATS = tuple(_OPTIONS)


@dataclass(frozen=True)
class FileSource:
    """Files of one format: path names a file, a folder or a pattern."""

    format: str
    path: str
    header: bool = True
    delimiter: str = ","
    files_per_batch: int | None = None  # on Spark; None reads all files in one batch
    place: Place | None = field(default=None, compare=False)

    @property
    def is_local(self) -> bool:
        """Whether the path is one of this machine rather than a URI."""
        return "://" not in self.path


def source_of(endpoint: Endpoint) -> FileSource:
    """The source that an endpoint of a script names."""
    name = endpoint.name.lower()
    if name not in _OPTIONS:
        guess = nearest(name, FORMATS)
        hint = f"did you mean {guess}?" if guess else f"the sources are: {', '.join(FORMATS)}"
        message = f"there is no source {endpoint.name!r}"
        raise BindingError("WB510", message, hint=hint, place=endpoint.place)
    options = Options(endpoint, _OPTIONS[name])
    is_csv = name == "csv"
    return FileSource(
        name,
        options.text("path"),
        header=options.flag("header", True) if is_csv else True,
        delimiter=_delimiter(options, endpoint) if is_csv else ",",
        files_per_batch=options.count("files_per_batch"),
        place=endpoint.place,
    )


def _delimiter(options: Options, endpoint: Endpoint) -> str:
    delimiter = options.text("delimiter", ",")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\n\r':
        raise BindingError(
            "WB511",
            f"{delimiter!r} cannot separate values",
            hint="give one character, such as ',' or ';'",
            place=endpoint.place,
        )
    return delimiter
