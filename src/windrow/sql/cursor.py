"""A place in the tokens of a text: look, take, or say what was expected instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windrow.errors import Place, QuerySyntaxError, UnsupportedError
from windrow.sql.limits import MAX_QUERY_DEPTH, check_text, check_tokens
from windrow.sql.statements import QueryText
from windrow.sql.tokens import Token, tokens_of
from windrow.sql.words import NOT_AN_ALIAS, RESERVED, nearest

__all__ = ["EMITS", "Cursor"]


# What may follow a query in brackets that is part of a larger query in brackets.
_GOES_ON = frozenset(
    [
        *("UNION", "EXCEPT", "MINUS", "INTERSECT", "ORDER", "LIMIT", "OFFSET", "FETCH"),
        *("ERROR", "EVERY", "DURATION"),
    ]
)


# How others end a query that runs on and on.
EMITS = (("EMIT", "CHANGES"), ("EMIT", "FINAL"), ("EMIT", "ON", "WINDOW", "CLOSE"))


class Cursor:
    """Reads the tokens of one text from left to right.

    read_query: how a query in brackets is read, and whether it may have service clauses; it is
    given from outside because queries and expressions contain each other.
    """

    def __init__(
        self, text: str, read_query: Callable[[Cursor, bool], QueryText] | None = None
    ) -> None:
        self.text = check_text(text)
        self._tokens = tokens_of(self.text)
        check_tokens(self._tokens, self.text)
        self._index = 0
        self._read_query = read_query
        self._query_depth = 0

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._index]

    @property
    def before(self) -> Token:
        """The token taken last."""
        return self._tokens[max(0, self._index - 1)]

    def ahead(self, count: int = 1) -> Token:
        """The token that many behind the next one."""
        return self._tokens[min(self._index + count, len(self._tokens) - 1)]

    def consume(self) -> Token:
        """Moves past the next token and returns it; the end is never passed."""
        token = self.token
        self._index = min(self._index + 1, len(self._tokens) - 1)
        return token

    def at(self, *wanted: str) -> bool:
        """Whether these words or signs come next, in this order."""
        return all(self.ahead(index).upper == word for index, word in enumerate(wanted))

    def at_any(self, *wanted: str) -> bool:
        """Whether one of these words or signs comes next."""
        return self.token.upper in wanted

    def accept(self, *wanted: str) -> bool:
        """Takes these words or signs if they all come next."""
        if not self.at(*wanted):
            return False
        for _ in wanted:
            self.consume()
        return True

    def expect(self, *wanted: str, hint: str = "") -> Token:
        """Takes these words or signs, or fails at the first that is missing; returns the first."""
        first = self.token
        for word in wanted:
            if not self.at(word):
                raise self.expected(f"'{word}'", possible=[word], hint=hint)
            self.consume()
        return first

    def at_query(self, ahead: int = 0) -> bool:
        """Whether a query begins there: SELECT, WITH, or VALUES and a row."""
        token, following = self.ahead(ahead), self.ahead(ahead + 1)
        if token.upper == "VALUES":
            return following.upper == "(" or following.kind in ("number", "string")
        return token.upper in ("SELECT", "WITH")

    def at_query_in_brackets(self, ahead: int = 0) -> bool:
        """Whether a bracket comes next with a query in it, which may begin with brackets, too."""
        if self.ahead(ahead).upper != "(":
            return False
        if self.ahead(ahead + 1).upper != "(":
            return self.at_query(ahead + 1)
        if not self.at_query_in_brackets(ahead + 1):
            return False
        behind = self.ahead(self._closing(ahead + 1) + 1).upper
        return behind == ")" or behind in _GOES_ON

    def _closing(self, ahead: int) -> int:
        depth = 0
        for index in range(ahead, len(self._tokens) - self._index):
            sign = self.ahead(index).upper
            depth += (sign == "(") - (sign == ")")
            if depth == 0:
                return index
        return len(self._tokens)

    def query_in_brackets(self, *, service: bool = False) -> QueryText:
        """Takes the bracket that comes next and the query in it."""
        assert self._read_query is not None
        opening = self.expect("(")
        if self._query_depth == MAX_QUERY_DEPTH:
            hint = "name inner queries by WITH or CREATE VIEW"
            message = f"queries are nested deeper than {MAX_QUERY_DEPTH}"
            raise self.wrong("WS137", message, hint, opening)
        self._query_depth += 1
        query = self._read_query(self, service)
        self._query_depth -= 1
        self.expect(")")
        return query

    def at_name(self) -> bool:
        """Whether a name comes next: quoted, or a word that is not reserved."""
        token = self.token
        return token.kind == "quoted" or (token.kind == "word" and token.upper not in RESERVED)

    def at_alias(self) -> bool:
        """Whether a name comes next that can be an alias without AS."""
        if self.token.upper == "EMIT" and any(self.at(*words) for words in EMITS):
            return False
        return self.at_name() and self.token.upper not in NOT_AN_ALIAS

    def name(self, what: str) -> Token:
        """Takes a name; `what` says of what, such as 'a stream'."""
        if self.at_name():
            return self.consume()
        if self.token.kind == "word":
            raise QuerySyntaxError(
                "WS113",
                f"expected the name of {what}, found the word {self.token.upper}",
                hint=f"if it is a name, write it in backquotes: `{self.token.text}`",
                place=self.place(),
            )
        raise self.expected(f"the name of {what}")

    def place(self, token: Token | None = None) -> Place:
        """The place of a token, or of the one that comes next."""
        return (token or self.token).place(self.text)

    def expected(self, what: str, possible: Sequence[str] = (), hint: str = "") -> QuerySyntaxError:
        """The error that something else was expected here.

        A misspelt word may have been taken for an alias just before: then the error points at it.
        """
        misspelt = self.token
        for token in (self.token, self.before):
            meant = nearest(token.text, possible) if token.kind == "word" else None
            if meant is not None and meant != token.upper:
                misspelt, hint = token, f"did you mean {meant}?"
                break
        return QuerySyntaxError(
            "WS110",
            f"expected {what}, found {misspelt.shown()}",
            hint=hint or f"write {what} here",
            place=self.place(misspelt),
        )

    def wrong(
        self, code: str, message: str, hint: str, token: Token | None = None
    ) -> QuerySyntaxError:
        """An error of syntax at a token, or at the one that comes next."""
        return QuerySyntaxError(code, message, hint=hint, place=self.place(token))

    def unsupported(
        self, code: str, message: str, hint: str, token: Token | None = None
    ) -> UnsupportedError:
        """The error for what SQL knows and WQL does not run."""
        return UnsupportedError(code, message, hint=hint, place=self.place(token))
