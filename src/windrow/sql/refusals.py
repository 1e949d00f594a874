"""Clauses that SQL has and WQL does not, each refused by name with what to do instead."""

from __future__ import annotations

from windrow.sql.cursor import Cursor
from windrow.sql.words import nearest

__all__ = ["refuse_clause", "refuse_rest"]

_NO_SORT = "use ORDER BY: there are no partitions to sort or to place rows in"
_CLAUSES = {
    "SORT": ("WU101", "SORT BY", _NO_SORT),
    "CLUSTER": ("WU101", "CLUSTER BY", _NO_SORT),
    "DISTRIBUTE": ("WU101", "DISTRIBUTE BY", _NO_SORT),
    "TABLESAMPLE": (
        "WU114",
        "TABLESAMPLE",
        "there is no sampling; ERROR (2%) allows approximate answers",
    ),
    "PIVOT": ("WU114", "PIVOT", "write a column for each: SUM(x) FILTER (WHERE k = 'a') AS a"),
    "UNPIVOT": ("WU114", "UNPIVOT", "write a SELECT for each column, and UNION ALL between them"),
    "LATERAL": ("WU115", "LATERAL", "join by conditions: JOIN (SELECT ...) AS b ON a.k = b.k"),
}


def refuse_clause(cursor: Cursor) -> None:
    """Fails if a clause that is not WQL comes next."""
    refusal = _CLAUSES.get(cursor.token.upper)
    if refusal is not None:
        code, words, hint = refusal
        raise cursor.unsupported(code, f"{words} is not supported", hint)


def refuse_rest(cursor: Cursor, possible: tuple[str, ...]) -> None:
    """Fails if anything is left; a misspelt clause word just before it is named, too."""
    if cursor.token.kind == "end":
        return
    refuse_clause(cursor)
    hint = _out_of_place(cursor)
    if hint:
        raise cursor.wrong("WS144", f"unexpected {cursor.token.shown()}", hint)
    beginnings = {clause.split()[0]: clause for clause in possible}
    for token in (cursor.token, cursor.before):
        meant = nearest(token.text, beginnings) if token.kind == "word" else None
        if meant is not None and token.upper != meant:
            hint = f"did you mean {beginnings[meant]}?"
            raise cursor.wrong("WS143", f"unexpected {token.shown()}", hint, token)
    hint = "the statement ends before it: write a semicolon"
    if possible:
        hint = f"the statement could end here, or continue with {', '.join(possible)}"
    raise cursor.wrong("WS144", f"unexpected {cursor.token.shown()}", hint)


def _out_of_place(cursor: Cursor) -> str | None:
    if cursor.at("INTO"):
        return "INTO ends CREATE QUERY name AS SELECT ...; in Python start() takes the sink"
    if cursor.at_any("ERROR", "EVERY", "DURATION"):
        return "ERROR, EVERY and DURATION come before INTO"
    if cursor.at_any("WHERE", "GROUP", "HAVING", "QUALIFY", "ORDER", "LIMIT", "OFFSET"):
        return (
            "the order is WHERE, GROUP BY, HAVING, QUALIFY, ORDER BY, LIMIT, then ERROR, EVERY and "
            "DURATION; each once"
        )
    return None
