"""WQL as a sqlglot dialect: Spark's literals, escapes and printing, with no word reserved.

Keywords are recognised by the parser, by position, so that a column may be called `error` or
`every` and `[10 MINUTES]` is not an array subscript. Only the characters are settled here.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import TokenType

__all__ = ["WQL", "escape_name"]


class WQL(Spark):
    """Spark SQL's dialect with the tokens of WQL."""

    IDENTIFIERS_CAN_START_WITH_DIGIT = False  # `60MINUTE` is a number and a unit

    class Tokenizer(Spark.Tokenizer):
        """Strings, quoted names, numbers, words and symbols; all words are plain words."""

        # Spark 4 reads 'it''s' as one string with a quote in it; sqlglot's Spark still as two.
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']
        IDENTIFIER_ESCAPES: ClassVar[list[str]] = ["`"]
        BYTE_STRINGS: ClassVar[list[str | tuple[str, str]]] = []
        HEX_STRINGS: ClassVar[list[str | tuple[str, str]]] = []
        BIT_STRINGS: ClassVar[list[str | tuple[str, str]]] = []
        COMMANDS: ClassVar[set[TokenType]] = set()
        NUMERIC_LITERALS: ClassVar[dict[str, str]] = {}
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            "||": TokenType.DPIPE,
            "::": TokenType.DCOLON,
            "<=>": TokenType.NULLSAFE_EQ,
            "<>": TokenType.NEQ,
            "!=": TokenType.NEQ,
            "<=": TokenType.LTE,
            ">=": TokenType.GTE,
            "==": TokenType.EQ,
        }


def escape_name(name: str) -> str:
    """The name in backquotes, those inside it doubled.

    >>> escape_name("two words")
    '`two words`'
    """
    return exp.to_identifier(name, quoted=True).sql(dialect=WQL)
