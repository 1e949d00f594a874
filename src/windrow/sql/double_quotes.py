"""Double quotes: text, as in Spark, or names, as in the SQL standard, where a session says so.

Names in double quotes are put into backquotes before anything reads the text: what is kept of it,
printed or parsed again means the same without the setting.
"""

from __future__ import annotations

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token as RawToken
from sqlglot.tokenizer_core import TokenType

from windrow.errors import BindingError
from windrow.sql.dialect import WQL, escape_name

__all__ = ["DOUBLE_QUOTES", "double_quotes_named", "names_in_backquotes", "settings_applied"]

DOUBLE_QUOTES = ("text", "name")
_SETTING = "double_quotes"


def double_quotes_named(value: str) -> str:
    """The setting, checked.

    >>> double_quotes_named("name")
    'name'
    """
    if value in DOUBLE_QUOTES:
        return value
    raise BindingError(
        "WB735",
        f"double_quotes cannot be {value!r}",
        hint='give "text", as in Spark, or "name", as in the SQL standard',
    )


def names_in_backquotes(text: str, setting: str = "name") -> str:
    """The text with backquotes for double quotes, if the setting says that these hold names.

    >>> names_in_backquotes('SELECT "a b" FROM t')
    'SELECT `a b` FROM t'
    """
    if setting != "name" or '"' not in text:
        return text
    return _replaced(text, [each for each in _tokens(text) if _is_double_quoted(each, text)])


def settings_applied(script: str) -> str:
    """The script with backquotes for double quotes behind each SET double_quotes = 'name'."""
    if _SETTING not in script.lower() or '"' not in script:
        return script
    tokens, found, is_name = _tokens(script), [], False
    for place, token in enumerate(tokens):
        if is_name and _is_double_quoted(token, script):
            found.append(token)
        words = [each.text.lower() for each in tokens[place : place + 4]]
        if words[:3] == ["set", _SETTING, "="] and len(words) > 3:
            is_name = words[3] == "name"
    return _replaced(script, found)


def _tokens(text: str) -> list[RawToken]:
    try:
        return list(WQL().tokenize(text))
    except TokenError:
        return []  # what is wrong is told by who reads the text


def _is_double_quoted(token: RawToken, text: str) -> bool:
    return token.token_type == TokenType.STRING and text[token.start] == '"'


def _replaced(text: str, tokens: list[RawToken]) -> str:
    for token in reversed(tokens):
        text = text[: token.start] + escape_name(token.text) + text[token.end + 1 :]
    return text
