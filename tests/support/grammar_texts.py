"""Texts made from the rules of a grammar, and whether a text follows them."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from types import ModuleType
from typing import Any

from windrow.sql.tokens import Token, tokens_of
from windrow.sql.words import NOT_AN_ALIAS, RESERVED

Ends = frozenset[int]
DEEP = 8  # derivations take the shortest way from here on
MANY = 2  # as often a part comes again at the most
TERMINALS = {
    "name": ["temp", "k", "Every", "`two words`", "`select`"],
    "word": ["n", "`error`"],
    "function": ["abs", "Every", "COUNT"],
    "number": ["60", "2.5", "1e2", "7"],
    "integer": ["1", "12"],
    "string": ["'x'", "'it''s'"],
    "time": ["'2026-01-01'", "'2026-01-02 09:30'"],
}
# A type is a name to the grammar; these are types.
TYPES = ["INT", "string", "DECIMAL ( 10 , 2 )"]
SUFFIXES = ("L", "S", "Y", "D", "F")


class Grammar:
    """Rules as they are read by docs/pictures/grammar.py, which is given as a module."""

    def __init__(self, rules: Mapping[str, Any], nodes: ModuleType) -> None:
        self.rules, self._nodes = rules, nodes
        self._least = {name: 0 for name in TERMINALS}
        self._find_least()

    def derive(self, rule: str, random: Random, depth: int = 0) -> str:
        """A text that follows the rule."""
        known = TYPES if rule == "type" else TERMINALS.get(rule)
        if known is not None:
            return random.choice(known)
        return self._derived(self.rules[rule], random, depth + 1)

    def follows(self, rule: str, text: str) -> bool:
        """Whether the whole text follows the rule."""
        tokens = tokens_of(text)
        return len(tokens) - 1 in Recogniser(self.rules, self._nodes, tokens).ends(rule, 0)

    def _derived(self, node: Any, random: Random, depth: int) -> str:
        nodes, is_deep = self._nodes, depth > DEEP
        if isinstance(node, nodes.Word):
            return node.text
        if isinstance(node, nodes.Rule):
            return self.derive(node.name, random, depth)
        if isinstance(node, nodes.Sequence):
            return " ".join(self._derived(part, random, depth) for part in node.parts)
        if isinstance(node, nodes.Choice):
            way = min(node.parts, key=self._cost) if is_deep else random.choice(node.parts)
            return self._derived(way, random, depth)
        least = node.least if isinstance(node, nodes.Repeat) else 0
        most = MANY if isinstance(node, nodes.Repeat) else 1
        count = least if is_deep else random.randint(least, most)
        return " ".join(self._derived(node.part, random, depth) for _ in range(count))

    def _find_least(self) -> None:
        """How deep each rule goes at the least: the way out of recursion."""
        while any(name not in self._least for name in self.rules):
            known = {name: self._cost(node) for name, node in self.rules.items()}
            self._least |= {name: cost + 1 for name, cost in known.items() if cost < float("inf")}

    def _cost(self, node: Any) -> float:
        nodes = self._nodes
        if isinstance(node, nodes.Word):
            return 0
        if isinstance(node, nodes.Rule):
            return self._least.get(node.name, float("inf"))
        if isinstance(node, nodes.Sequence):
            return max(self._cost(part) for part in node.parts)
        if isinstance(node, nodes.Choice):
            return min(self._cost(part) for part in node.parts)
        return self._cost(node.part) if getattr(node, "least", 0) else 0


class Recogniser:
    """Where parts of a grammar can end in the tokens of a text."""

    def __init__(self, rules: Mapping[str, Any], nodes: ModuleType, tokens: list[Token]) -> None:
        self._rules, self._nodes, self._tokens = rules, nodes, tokens
        self._known: dict[tuple[str, int], Ends] = {}

    def ends(self, rule: str, start: int) -> Ends:
        """Where the rule can end that begins at a token."""
        if rule in TERMINALS:
            return _terminal_ends(rule, self._tokens, start)
        if (rule, start) not in self._known:
            self._known[rule, start] = self._of(self._rules[rule], start)
        return self._known[rule, start]

    def _of(self, node: Any, start: int) -> Ends:
        nodes = self._nodes
        if isinstance(node, nodes.Word):
            return frozenset([start + 1] if self._tokens[start].upper == node.text else [])
        if isinstance(node, nodes.Rule):
            return self.ends(node.name, start)
        if isinstance(node, nodes.Choice):
            return frozenset().union(*(self._of(part, start) for part in node.parts))
        if isinstance(node, nodes.Sequence):
            found = frozenset([start])
            for part in node.parts:
                found = self._from(part, found)
            return found
        return self._repeated(node, start)

    def _repeated(self, node: Any, start: int) -> Ends:
        reached = found = self._of(node.part, start)
        while isinstance(node, self._nodes.Repeat) and reached:
            reached = self._from(node.part, reached) - found
            found |= reached
        return found if getattr(node, "least", 0) else found | {start}

    def _from(self, node: Any, starts: Ends) -> Ends:
        return frozenset().union(*(self._of(node, each) for each in starts))


def _terminal_ends(name: str, tokens: list[Token], start: int) -> Ends:
    token = tokens[start]
    if name in ("name", "word", "function"):
        taken = NOT_AN_ALIAS if name == "word" else RESERVED
        is_name = token.kind == "word" and token.upper not in taken
        is_quoted = token.kind == "quoted" and name != "function"
        return frozenset([start + 1] if is_name or is_quoted else [])
    if name in ("string", "time"):
        return frozenset([start + 1] if token.kind == "string" else [])
    if token.kind != "number" or (name == "integer" and not token.text.isdigit()):
        return frozenset()
    suffix = tokens[start + 1] if start + 1 < len(tokens) else token
    has_suffix = suffix.start == token.end and suffix.upper in SUFFIXES
    return frozenset([start + 2 if has_suffix else start + 1])
