r"""What may come next, from what is declared: columns, streams, functions, keywords, \commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from windrow.apps.shell.commands import COMMANDS
from windrow.apps.shell.splitting import split
from windrow.apps.shell.words import BEGINNINGS, FUNCTIONS, KEYWORDS, TYPES, UNITS, WINDOW_WORDS
from windrow.apps.shell.workbench import Workbench
from windrow.sql.words import print_name

__all__ = ["Completing", "possible"]

Words = Iterable[tuple[str, str]]  # a word and what it is

_TYPED = re.compile(r"`?[\w]*\Z")
_SOURCE = re.compile(
    r"(?:FROM|JOIN|,)\s+(?:HISTORY\s*\(\s*)?`?(\w+)`?\s*\)?\s*(?:\[[^\]]*\])?\s*(?:AS\s+)?(\w+)?",
    re.I,
)
_QUERY_COMMANDS = ("\\watch", "\\answers", "\\explain", "\\stop")
_STREAM_COMMANDS = ("\\push", "\\late", "\\bad")


def possible(bench: Workbench, text: str, behind: str = "") -> list[tuple[str, str]]:
    """The words that fit what was typed so far, the likeliest first, each once.

    behind: what stands behind the cursor, where FROM may name the streams.
    """
    rest = split(text)[1]
    text = f"{rest} " if rest and text[-1:].isspace() else rest
    typed = _typed(text)
    before = text[: len(text) - len(typed)]
    words = _after(bench, f"{before} {behind}", before)
    found: dict[str, str] = {}
    for word, kind in words:
        if word.lower().startswith(typed.lower()) and word not in found:
            is_lower = typed.islower() and kind in ("keyword", "function", "unit", "type")
            found[word.lower() if is_lower else word] = kind
    return list(found.items())


def _typed(text: str) -> str:
    match = _TYPED.search(text)
    return match[0] if match else ""


def _after(bench: Workbench, text: str, before: str) -> Iterator[tuple[str, str]]:
    if before.endswith("."):
        yield from _columns_of(bench, text, before[:-1])
        return
    inside = before.rpartition("[")[2] if before.rfind("[") > before.rfind("]") else None
    if inside is not None:
        yield from ((unit, "unit") for unit in UNITS if re.search(r"\d\s*\Z", inside))
        yield from ((word, "keyword") for word in WINDOW_WORDS)
        return
    last = re.findall(r"\w+|[^\w\s]", before)[-1:]
    word = last[0].upper() if last else ""
    yield from _by_last_word(bench, text, word)


def _by_last_word(bench: Workbench, text: str, word: str) -> Iterator[tuple[str, str]]:
    if not word:
        yield from ((each, "keyword") for each in BEGINNINGS)
    elif re.match(r"\s*CREATE\s+STREAM", text, re.I):
        yield from ((each, "type") for each in TYPES)
        yield from (
            (each, "keyword") for each in ("TIME", "LATENESS", "MAX AHEAD", "ON BAD ROW", "FROM")
        )
        yield from ((f"{each}(", "source") for each in ("parquet", "csv", "jsonl"))
        yield from ((each, "unit") for each in UNITS)
    elif word in ("FROM", "JOIN"):
        yield from _streams(bench)
        yield "HISTORY(", "keyword"
    elif word == "ON" and re.match(r"\s*CREATE\s+HISTORY", text, re.I):
        yield from _streams(bench)
    elif word == "CREATE":
        yield from (
            (each, "keyword") for each in ("STREAM", "QUERY", "VIEW", "HISTORY", "FUNCTION")
        )
    elif word == "SET":
        yield from ((each, "setting") for each in ("memory", "checkpoint", "trigger"))
    else:
        yield from _in_a_query(bench, text)


def _in_a_query(bench: Workbench, text: str) -> Iterator[tuple[str, str]]:
    named = _sources(bench, text)
    streams = set(named.values()) or set(bench.job.catalog)
    for stream in bench.job.catalog.streams:
        if stream.name in streams:
            yield from ((print_name(column.name), stream.name) for column in stream.columns)
    for view in bench.job.views.values():
        if view.name in streams:
            yield from ((print_name(field.name), view.name) for field in view.plan.outputs)
    yield from ((alias, "stream") for alias in named)
    yield from _streams(bench)
    yield from ((f"{each}(", "function") for each in FUNCTIONS)
    yield from ((each, "keyword") for each in KEYWORDS)


def _streams(bench: Workbench) -> Iterator[tuple[str, str]]:
    yield from ((print_name(name), "stream") for name in bench.job.catalog)
    yield from ((print_name(name), "view") for name in bench.job.views)


def _columns_of(bench: Workbench, text: str, before: str) -> Iterator[tuple[str, str]]:
    alias = _typed(before).strip("`").lower()
    by_alias = {each.lower(): stream for each, stream in _sources(bench, text).items()}
    name = by_alias.get(alias, alias)
    if name in bench.job.catalog:
        for column in bench.job.catalog[name].columns:
            yield print_name(column.name), str(column.type)
    view = bench.job.catalog.view(name)
    if view is not None:
        for field in bench.job.views[view.name].plan.outputs:
            yield print_name(field.name), str(field.type)


def _sources(bench: Workbench, text: str) -> dict[str, str]:
    """Streams that the text reads, by the names under which it reads them."""
    found = {}
    for name, alias in _SOURCE.findall(text):
        if name in bench.job.catalog:
            is_alias = alias and alias.upper() not in KEYWORDS
            found[alias if is_alias else name] = bench.job.catalog[name].name
        elif (view := bench.job.catalog.view(name)) is not None:
            is_alias = alias and alias.upper() not in KEYWORDS
            found[alias if is_alias else name] = view.name
    return found


class Completing(Completer):
    """Completion at the prompt."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._paths = PathCompleter(expanduser=True)

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Completions for the word before the cursor."""
        text = document.text_before_cursor
        if text.lstrip().startswith("\\"):
            yield from self._of_command(text.lstrip(), complete_event)
            return
        typed = _typed(text)
        if not typed and not complete_event.completion_requested and not text.endswith("."):
            return
        for word, kind in possible(self._bench, text, document.text_after_cursor):
            yield Completion(word, -len(typed), display_meta=kind)

    def _of_command(self, text: str, event: CompleteEvent) -> Iterator[Completion]:
        *words, typed = re.split(r"\s+", text)
        if not words:
            yield from (
                Completion(name, -len(typed), display_meta=command.text)
                for name, command in COMMANDS.items()
                if name.startswith(typed)
            )
        elif words[0] == "\\load" or (words[0] == "\\push" and len(words) == 2):
            yield from self._paths.get_completions(Document(typed), event)
        else:
            yield from (
                Completion(name, -len(typed))
                for name in self._names(words)
                if name.lower().startswith(typed.lower())
            )

    def _names(self, words: list[str]) -> list[str]:
        queries, streams = list(self._bench.outlets), list(self._bench.job.catalog)
        if words[0] in _QUERY_COMMANDS:
            return queries
        if words[0] in _STREAM_COMMANDS and len(words) == 1:
            return streams
        views = list(self._bench.job.views)
        return [*queries, *streams, *views] if words[0] == "\\d" else []
