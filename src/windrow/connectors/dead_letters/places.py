"""Where bad rows of a stream may go, as it is declared: a folder, a file of lines, a topic."""

from __future__ import annotations

from typing import cast

from windrow.connectors.dead_letters.letters import DeadLetters
from windrow.connectors.loading import loaded, loaded_with_client
from windrow.connectors.options import Options
from windrow.connectors.registry import sink_named
from windrow.errors import BindingError
from windrow.sql.statements import Endpoint

__all__ = ["TOPIC_PREFIX", "letters_place", "opened_letters"]

LINES_SUFFIX = ".jsonl"
TOPIC_PREFIX = "kafka://"
_HINT = (
    "write ON BAD ROW SET ASIDE INTO parquet('folder'), jsonl('bad.jsonl') or kafka('topic', "
    "servers = '...'), or omit INTO"
)


def opened_letters(stream: str, into: str) -> DeadLetters:
    """What takes the bad rows of a stream.

    into: a file if it ends in .jsonl, a topic if it is kafka://host:port/topic, else a folder of
    Parquet files.
    """
    if into.startswith(TOPIC_PREFIX):
        topic = loaded_with_client("dead_letters.topic", "Kafka", "kafka")
        return cast("DeadLetters", topic.LetterTopic(stream, into))
    if into.endswith(LINES_SUFFIX):
        return cast("DeadLetters", loaded("dead_letters.line_file").LetterFile(stream, into))
    return cast("DeadLetters", loaded("parquet.bad_rows_folder").BadRowsFolder(stream, into))


def letters_place(endpoint: Endpoint | None) -> str | None:
    """The same place as a script names it."""
    if endpoint is None:
        return None
    if endpoint.name.lower() == "jsonl":
        path = Options(endpoint, ("path",)).text("path")
        if not path.endswith(LINES_SUFFIX):
            raise BindingError(
                "WB526",
                f"{path!r} is no file for bad rows",
                hint=f"give it a name that ends in {LINES_SUFFIX}",
                place=endpoint.place,
            )
        return path
    folder = sink_named(endpoint).bad_rows_folder
    if folder is None and endpoint.name.lower() == "kafka":
        raise BindingError(
            "WB875",
            "bad rows are sent to a topic without options",
            hint="omit the options; or write them to a file: INTO jsonl('bad.jsonl')",
            place=endpoint.place,
        )
    if folder is None:
        raise BindingError(
            "WB526",
            f"bad rows cannot be written with {endpoint.name}()",
            hint=_HINT,
            place=endpoint.place,
        )
    return folder
