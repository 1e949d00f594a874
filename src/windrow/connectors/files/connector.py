"""Files of rows: Parquet, CSV or one JSON object a line; read in this process and on Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.contract import Source
from windrow.connectors.counts import check_count
from windrow.connectors.loading import loaded
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, DataError, Place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from windrow.connectors.live import LiveReader, Position
    from windrow.connectors.options import Options
    from windrow.rows.file_rows import FileRows
    from windrow.schema import StreamSchema
    from windrow.table_schema import TableSchema

__all__ = ["SOURCES", "FileSource", "has_secrets", "without_secrets"]

# So long a failure on Spark may be looked for in files, to name its line.
LONGEST_LOOK_S = 60.0
# Who reads an address, and what is asked of it, is shown nowhere.
_SECRET = re.compile(r"://(?:[^/]*@|[^/@]*:(?!\d*(?:[/?]|$)).*@)")
CHANGELOG_FORMATS = ("changelog", "debezium-json", "upsert-json")  # of JSON lines


def has_secrets(address: str) -> bool:
    """Whether it has a user or a password, in which a slash may be."""
    return _SECRET.search(address) is not None


def without_secrets(address: str) -> str:
    """An address as it is shown.

    >>> without_secrets("s3://who:se/cret@bucket/a@b.csv?more=secrets")
    's3://b.csv'
    """
    return _SECRET.sub("://", address).partition("?")[0]


@dataclass(frozen=True)
class FileSource(Source):
    """Files of one format: path names a file, a folder or a pattern.

    >>> FileSource("csv", "s3://bucket/*.csv").is_local
    False
    """

    in_process: ClassVar[bool] = True
    is_endless: ClassVar[bool] = False

    format: str
    path: str
    header: bool = True
    delimiter: str = ","
    files_per_batch: int | None = None  # on Spark; None reads all files in one batch
    place: Place | None = field(default=None, compare=False)
    changelog: str | None = None  # of JSON: changes of a table, in this format
    follow: bool = False  # in this process: files that grow and come, for as long as a job runs

    def __post_init__(self) -> None:
        if self.files_per_batch is not None:
            check_count("files_per_batch", self.files_per_batch)
        mark = self.delimiter
        if len(mark) != 1 or not mark.isascii() or mark in '"\n\r':
            raise BindingError(
                "WB511",
                f"{mark!r} cannot separate values",
                hint="give one character, such as ',' or ';'",
                place=self.place,
            )

    @property
    def is_live(self) -> bool:
        """Whether what comes later is read too."""
        return self.follow

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """Follows files, or reads them to their end."""
        if not self.follow:
            return super().open_live(schema, position)
        if not self.is_local:
            made = loaded("files.stored_rows").StoredFiles(schema, self, position)
            return cast("LiveReader", made)
        if self.is_text:
            return cast("LiveReader", loaded("files.live_text").LiveText(schema, self, position))
        made = loaded("files.live_parquet").LiveParquet(schema, self, position)
        return cast("LiveReader", made)

    @property
    def is_local(self) -> bool:
        """Whether the path is one of this machine rather than a URI."""
        return "://" not in self.path

    @property
    def is_text(self) -> bool:
        """Whether its rows are lines, to which more may be added."""
        return self.format != "parquet"

    @property
    def shown(self) -> str:
        """The format and the path."""
        path = self.path if self.is_local else without_secrets(self.path)
        return f"{self.format}('{path}'{', follow = TRUE' if self.follow else ''})"

    def check(self, schema: StreamSchema) -> None:
        """Refuses files that are not there or lack columns of the stream."""
        if self.changelog is not None and not hasattr(schema, "key"):
            raise BindingError(
                "WB710",
                f"{schema.name!r} is a stream, and format = {self.changelog!r} is of tables",
                hint="write CREATE TABLE ... PRIMARY KEY (...), or omit the format",
                place=self.place,
            )
        if not self.is_local:
            if self.changelog is not None:
                raise BindingError(
                    "WB537",
                    f"changes of table {schema.name!r} cannot be read from {self.shown} here",
                    hint="read a changelog from files of this machine, or run on Spark",
                    place=self.place,
                )
            loaded("files.stored_rows").check_stored(self)
        elif not self.follow:
            loaded("files.checks").check_files(schema, self)

    def read(self, schema: StreamSchema) -> Iterator[tuple[FileRows, float]]:
        """The rows in the order of the files; those are listed now."""
        if self.is_local:
            batches = loaded("files.reading").batches_of(schema, self)
        else:
            batches = loaded("files.stored_rows").stored_rows(schema, self)
        return cast("Iterator[tuple[FileRows, float]]", batches)

    def fault(self, schema: StreamSchema) -> DataError | None:
        """The first value of files of this machine that is no row's, looked for a while."""
        if not self.is_local or self.changelog is not None:
            return None
        deadline = monotonic() + LONGEST_LOOK_S
        try:
            for _ in self.read(schema):
                if monotonic() > deadline:
                    break
        except DataError as found:
            return found
        return None

    def check_on_spark(self, schema: StreamSchema) -> None:
        """The same as in this process, of files that this machine can see."""
        if self.is_local:
            self.check(schema)

    def read_on_spark(self, spark: SparkSession, schema: StreamSchema) -> DataFrame:
        """The rows of files as they come, without a word on none of them."""
        return cast("DataFrame", loaded("files.spark_files").file_frame(spark, schema, self))

    def read_table_on_spark(
        self, spark: SparkSession, schema: TableSchema
    ) -> tuple[DataFrame, str | None]:
        """The same, or lines of a changelog, in the order of the files."""
        frame = loaded("files.spark_files").table_frame(spark, schema, self)
        return cast("DataFrame", frame), self.changelog


def _files(format_: str) -> Callable[[Options], FileSource]:
    def described(options: Options) -> FileSource:
        return FileSource(
            format_,
            options.text("path"),
            files_per_batch=options.count("files_per_batch"),
            place=options.place,
            follow=options.flag("follow", False),
        )

    return described


def _json_lines(options: Options) -> FileSource:
    form = options.one_of("format", ("json", *CHANGELOG_FORMATS))
    return FileSource(
        "jsonl",
        options.text("path"),
        files_per_batch=options.count("files_per_batch"),
        place=options.place,
        changelog=None if form == "json" else form,
        follow=options.flag("follow", False),
    )


def _csv(options: Options) -> FileSource:
    return FileSource(
        "csv",
        options.text("path"),
        options.flag("header", True),
        options.text("delimiter", ","),
        options.count("files_per_batch"),
        options.place,
        follow=options.flag("follow", False),
    )


SOURCES = {
    "parquet": Scripted(("path", "files_per_batch", "follow"), _files("parquet")),
    "csv": Scripted(("path", "header", "delimiter", "files_per_batch", "follow"), _csv),
    "jsonl": Scripted(("path", "files_per_batch", "format", "follow"), _json_lines),
}
