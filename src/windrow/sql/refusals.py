"""Clauses that SQL has and WQL does not, each refused by name with what to do instead."""

from __future__ import annotations

from windrow.sql.cursor import Cursor
from windrow.sql.words import nearest

__all__ = ["refuse_clause", "refuse_join", "refuse_rest"]

_NO_ORDER = "an answer is a set of rows: sort them after you read them"
_NO_LIMIT = "limit the answer with a window or HAVING, or truncate it after you read it"
_NO_SET = "register one query for each part"
_CLAUSES = {
    "ORDER": ("WU101", "ORDER BY", _NO_ORDER),
    "SORT": ("WU101", "SORT BY", _NO_ORDER),
    "CLUSTER": ("WU101", "CLUSTER BY", _NO_ORDER),
    "DISTRIBUTE": ("WU101", "DISTRIBUTE BY", _NO_ORDER),
    "LIMIT": ("WU102", "LIMIT", _NO_LIMIT),
    "OFFSET": ("WU102", "OFFSET", _NO_LIMIT),
    "FETCH": ("WU102", "FETCH", _NO_LIMIT),
    "UNION": ("WU103", "UNION", _NO_SET),
    "EXCEPT": ("WU103", "EXCEPT", "use LEFT ANTI JOIN"),
    "MINUS": ("WU103", "MINUS", "use LEFT ANTI JOIN"),
    "INTERSECT": ("WU103", "INTERSECT", "use JOIN and DISTINCT"),
    "WITH": ("WU113", "WITH", "a query reads streams: write it as one SELECT over them"),
    "QUALIFY": ("WU114", "QUALIFY", "use HAVING"),
    "WINDOW": ("WU114", "WINDOW", "the window comes after the stream: FROM s [10 MINUTES]"),
    "TABLESAMPLE": ("WU114", "TABLESAMPLE", "use ERROR (2%) to allow approximate answers"),
    "PIVOT": ("WU114", "PIVOT", "use GROUP BY"),
    "UNPIVOT": ("WU114", "UNPIVOT", "use GROUP BY"),
}
_JOINS = {
    "LEFT": "use JOIN, or LEFT ANTI JOIN for rows without a match",
    "RIGHT": "use JOIN, or swap the inputs and use LEFT ANTI JOIN",
    "FULL": "use JOIN, or LEFT ANTI JOIN for rows without a match",
    "CROSS": "omit CROSS and ON: then all rows join",
    "NATURAL": "name the columns: JOIN ... ON a.k = b.k",
    "SEMI": "use JOIN and DISTINCT",
    "ANTI": "write LEFT ANTI JOIN",
    "LATERAL": "join streams by equality of columns",
}


def refuse_clause(cursor: Cursor) -> None:
    """Fails if a clause that is not WQL comes next."""
    refusal = _CLAUSES.get(cursor.token.upper)
    if refusal is not None:
        code, words, hint = refusal
        raise cursor.unsupported(code, f"{words} is not supported", hint)


def refuse_join(cursor: Cursor) -> None:
    """Fails if a join other than JOIN, INNER JOIN and LEFT ANTI JOIN comes next."""
    word = cursor.token.upper
    if word == "LEFT" and cursor.ahead().upper == "SEMI":
        word = "SEMI"
    hint = _JOINS.get(word)
    if hint is not None:
        raise cursor.unsupported("WU115", f"{word} joins are not supported", hint)


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
    if cursor.at_any("WHERE", "GROUP", "HAVING"):
        return "the order is WHERE, GROUP BY, HAVING, then ERROR, EVERY and DURATION; each once"
    return None
