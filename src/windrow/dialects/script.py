"""A whole script: each statement by its first words."""

from __future__ import annotations

from windrow.dialects.declarations import declare_relation, declare_schema, looked_up_columns
from windrow.dialects.expressions import translate_expressions
from windrow.dialects.functions import translate_function
from windrow.dialects.ksqldb import pass_time_on
from windrow.dialects.scanning import Piece, Pieces, closing, statements_of
from windrow.dialects.translation import DIALECTS, Translating, Translation
from windrow.errors import BindingError
from windrow.sql.words import print_name

__all__ = ["translate"]

_SKIPPED: dict[tuple[str, ...], str] = {
    ("BEGIN",): "",
    ("END",): "",
    ("EXECUTE",): "",
    ("USE",): "there are no catalogs: the name is used without one",
    ("DROP",): "nothing has to be dropped: a script begins with nothing",
    ("CREATE", "DATABASE"): "there are no databases: names are used without them",
    ("CREATE", "CATALOG"): "there are no catalogs",
    ("CREATE", "CONNECTION"): "connections are named by a source's options",
    ("CREATE", "INDEX"): "indexes are chosen by the planner",
    ("CREATE", "DEFAULT"): "indexes are chosen by the planner",
    ("ADD",): "there are no jars: declare functions with session.function() or CREATE FUNCTION",
    ("SHOW",): "",
    ("DESCRIBE",): "",
}
_BETWEEN = (
    "OR",
    "REPLACE",
    "TEMPORARY",
    "TEMP",
    "MATERIALIZED",
    "LIVE",
    "STREAMING",
    "LOCAL",
    "SYSTEM",
)
_RELATIONS = ("TABLE", "STREAM", "SOURCE")


def translate(text: str, dialect: str) -> Translation:
    """The script as WQL: declarations, views, queries and inserts; what differs is noted.

    >>> print(translate("CREATE MATERIALIZED VIEW v AS SELECT 1 AS x", "risingwave").text)
    CREATE VIEW v AS SELECT 1 AS x
    """
    if dialect not in DIALECTS:
        raise BindingError(
            "WB790",
            f"there is no dialect {dialect!r} to read from",
            hint=f"give one of {', '.join(DIALECTS)}",
        )
    script = Translating(text, dialect)
    script.looked_up = looked_up_columns(statements_of(text))
    for statement in statements_of(text):
        _statement(script, statement)
    return script.done()


def _statement(script: Translating, pieces: Pieces) -> None:
    words = [piece.upper for piece in pieces[:8]]
    if words[:2] == ["CREATE", "SCHEMA"] and script.dialect != "esper":
        _schema_of(script, pieces)
        return
    for beginning, note in _SKIPPED.items():
        if words[: len(beginning)] == list(beginning):
            _leave_out(script, pieces, note)
            return
    if words[0] == "SET":
        _setting(script, pieces)
    elif words[0] == "INSERT":
        _insert(script, pieces)
    elif words[0] == "CREATE":
        _create(script, pieces)
    else:
        translate_expressions(script, pieces)


def _schema_of(script: Translating, pieces: Pieces) -> None:
    script.schemas.add(pieces[-1].bare.lower())
    _leave_out(script, pieces, "there are no schemas: names are used without them")


def _leave_out(script: Translating, pieces: Pieces, note: str) -> None:
    script.replace(pieces[0].start, pieces[-1].end, "")
    if note:
        script.note(pieces[0], note)


def _setting(script: Translating, pieces: Pieces) -> None:
    words = [piece.upper for piece in pieces]
    if words[1:3] == ["TIME", "ZONE"] or pieces[1].bare.lower() in (
        "table.local-time-zone",
        "spark.sql.session.timezone",
    ):
        script.replace(pieces[0].start, pieces[-1].end, f"SET time_zone = '{pieces[-1].bare}'")
        return
    _leave_out(script, pieces, f"the setting {pieces[1].bare} has no meaning here")


def _insert(script: Translating, pieces: Pieces) -> None:
    """INSERT INTO a sink is a query of that name."""
    query = _first_query(pieces)
    target = _name_at(script, pieces, 2)
    if query is None:
        _leave_out(script, pieces, "rows are pushed, or come from a source: VALUES are left out")
        return
    name = target if target.lower() not in script.views else f"{target}_{len(script.edits)}"
    if target.lower() in script.views:
        script.note(
            pieces[0], f"what is inserted into {target} is a query of its own: use UNION ALL"
        )
    script.replace(pieces[0].start, pieces[query].start, f"CREATE QUERY {print_name(name)} AS ")
    translate_expressions(script, pieces[query:])
    into = script.sinks.get(target.lower(), "")
    if into:
        script.edits.append((pieces[-1].end, pieces[-1].end, f" INTO {into}"))


def _first_query(pieces: Pieces) -> int | None:
    return next(
        (place for place, piece in enumerate(pieces) if piece.upper in ("SELECT", "WITH")), None
    )


def _name_at(script: Translating, pieces: Pieces, place: int) -> str:
    """The name there, without the schemas before it."""
    while place + 2 < len(pieces) and pieces[place + 1].upper == ".":
        script.schemas.add(pieces[place].bare.lower())
        place += 2
    return pieces[place].bare


def _create(script: Translating, pieces: Pieces) -> None:
    place = 1
    while pieces[place].upper in _BETWEEN:
        place += 1
    kind = pieces[place].upper
    place += 1
    for word in ("IF", "NOT", "EXISTS"):
        place += place < len(pieces) and pieces[place].upper == word
    if kind == "SCHEMA":
        declare_schema(script, pieces, place)
    elif kind == "SINK":
        _sink(script, pieces, place)
    elif kind == "VIEW":
        _view(script, pieces, place)
    elif kind == "FUNCTION":
        note = translate_function(script, pieces, place)
        if note is not None:
            _leave_out(script, pieces, note)
    elif kind in _RELATIONS:
        _relation(script, pieces, place)
    else:
        translate_expressions(script, pieces)


def _relation(script: Translating, pieces: Pieces, place: int) -> None:
    """A table, stream or source: with columns, or AS a query, which makes it a view."""
    after = _after_name(pieces, place)
    if after < len(pieces) and pieces[after].upper == "(" and not _is_query(pieces, after + 1):
        declare_relation(script, pieces, place, after)
    else:
        _view(script, pieces, place)


def _is_query(pieces: Pieces, place: int) -> bool:
    return pieces[place].upper in ("SELECT", "WITH")


def _after_name(pieces: Pieces, place: int) -> int:
    while place + 2 < len(pieces) and pieces[place + 1].upper == ".":
        place += 2
    return place + 1


def _view(script: Translating, pieces: Pieces, place: int) -> None:
    name = _name_at(script, pieces, place)
    after = _after_name(pieces, place)
    columns: list[Piece] = []
    if after < len(pieces) and pieces[after].upper == "(" and not _is_query(pieces, after + 1):
        end = closing(pieces, after)
        columns, after = [each for each in pieces[after + 1 : end] if each.is_name], end + 1
    query = _query_of_view(pieces, after)
    if query is None:
        _leave_out(script, pieces, f"{name} has neither columns nor a query")
        return
    script.views.add(name.lower())
    begin, end_text = f"CREATE VIEW {print_name(name)} AS ", ""
    if columns:
        names = ", ".join(print_name(each.bare) for each in columns)
        begin, end_text = f"{begin}SELECT * FROM (", f") AS {print_name(name)}_ ({names})"
    script.replace(pieces[0].start, pieces[query].start, begin)
    if script.dialect == "ksqldb" and pieces[1].upper == "STREAM":
        pass_time_on(script, name, pieces[query:])
    if end_text:
        script.edits.append((pieces[-1].end, pieces[-1].end, end_text))
    translate_expressions(script, pieces[query:])


def _query_of_view(pieces: Pieces, after: int) -> int | None:
    """Where the query begins, behind options and AS."""
    place = after
    while place < len(pieces):
        if pieces[place].upper == "AS":
            return place + 1
        if pieces[place].upper in ("SELECT",):
            return place
        place = closing(pieces, place) + 1 if pieces[place].upper == "(" else place + 1
    return None


def _sink(script: Translating, pieces: Pieces, place: int) -> None:
    """CREATE SINK name FROM v WITH (...), or AS SELECT ... WITH (...)."""
    name = _name_at(script, pieces, place)
    after = _after_name(pieces, place)
    options = next((at for at in range(after, len(pieces)) if pieces[at].upper == "WITH"), None)
    last = pieces[(options if options is not None else len(pieces)) - 1]
    begin = f"CREATE QUERY {print_name(name)} AS "
    if pieces[after].upper == "FROM":
        source = _name_at(script, pieces, after + 1)
        script.replace(pieces[0].start, last.end, f"{begin}SELECT * FROM {print_name(source)}")
    else:
        script.replace(pieces[0].start, pieces[after + 1].start, begin)
        translate_expressions(script, pieces[after + 1 : options])
    if options is not None:
        script.replace(pieces[options].start, pieces[-1].end, "")
    script.note(pieces[0], f"say where {name} goes with INTO parquet('...')")
