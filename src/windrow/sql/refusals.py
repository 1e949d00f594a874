"""Clauses that SQL has and WQL does not, each refused by name with what to do instead."""

from __future__ import annotations

from windrow.sql.cursor import Cursor
from windrow.sql.words import CLAUSES, nearest

__all__ = ["refuse_clause", "refuse_join", "refuse_rest"]

_NO_ORDER = "an answer is a set of rows: order them where you read them"
_NO_LIMIT = "an answer is whole: bound it with a window or HAVING, or cut it where you read it"
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
    "WITH": ("WU113", "WITH", "register each inner query on its own"),
    "QUALIFY": ("WU114", "QUALIFY", "use HAVING"),
    "WINDOW": ("WU114", "WINDOW", "the window stands behind the stream: FROM s [10 MINUTES]"),
    "TABLESAMPLE": ("WU114", "TABLESAMPLE", "use ERROR (2%) to allow approximate answers"),
    "PIVOT": ("WU114", "PIVOT", "use GROUP BY"),
    "UNPIVOT": ("WU114", "UNPIVOT", "use GROUP BY"),
}
_JOINS = {
    "LEFT": "use JOIN, or LEFT ANTI JOIN for what has no match",
    "RIGHT": "use JOIN, or turn the sides and use LEFT ANTI JOIN",
    "FULL": "use JOIN, or LEFT ANTI JOIN for what has no match",
    "CROSS": "every pair would be held: use JOIN ... ON with an equality",
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
        raise cursor.unsupported(code, f"{words} is not run", hint)


def refuse_join(cursor: Cursor) -> None:
    """Fails if a join other than JOIN, INNER JOIN and LEFT ANTI JOIN comes next."""
    word = cursor.token.upper
    if word == "LEFT" and cursor.ahead().upper == "SEMI":
        word = "SEMI"
    hint = _JOINS.get(word)
    if hint is not None:
        raise cursor.unsupported("WU115", f"{word} joins are not run", hint)


def refuse_rest(cursor: Cursor, possible: tuple[str, ...] = CLAUSES) -> None:
    """Fails if anything is left; a misspelt clause word just before it is named, too."""
    if cursor.token.kind == "end":
        return
    refuse_clause(cursor)
    for token in (cursor.token, cursor.before):
        meant = nearest(token.text, possible) if token.kind == "word" else None
        if meant is not None and token.upper not in meant.split():
            raise cursor.wrong(
                "WS143", f"unexpected {token.shown()}", f"did you mean {meant}?", token
            )
    hint = f"the statement could end here, or go on with {', '.join(possible)}"
    raise cursor.wrong("WS144", f"unexpected {cursor.token.shown()}", hint)
