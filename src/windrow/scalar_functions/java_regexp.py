r"""Java's regular expressions as those of RE2, which takes time in proportion to the text only.

What RE2 cannot do (look-around, references back) is refused; what it writes in another way is
rewritten: `.` leaves out all ends of lines of Java, `\s` has the vertical tab, every group has the
name g and its number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["PatternError", "Translated", "replacement_of", "translate"]

_ENDS_OF_LINES = r"\n\r\x{85}\x{2028}\x{2029}"
_CLASSES = {
    **{"s": r"\t\n\x0B\f\r ", "h": r" \t\x{A0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}"},
    "v": r"\n\x0B\f\r\x{85}\x{2028}\x{2029}",
}
_POSIX = {
    **{"Lower": "[:lower:]", "Upper": "[:upper:]", "ASCII": "[:ascii:]", "Alpha": "[:alpha:]"},
    **{"Digit": "[:digit:]", "Alnum": "[:alnum:]", "Punct": "[:punct:]", "Graph": "[:graph:]"},
    **{"Print": "[:print:]", "Blank": "[:blank:]", "Cntrl": "[:cntrl:]", "XDigit": "[:xdigit:]"},
    "Space": "[:space:]",
}
_GROUP = re.compile(r"\((?!\?)|\(\?<([a-zA-Z][a-zA-Z0-9]*)>")
_FLAGS = re.compile(r"\(\?[imsU]*(?:-[imsU]+)?[:)]|\(\?:")
_PROPERTY = re.compile(r"\\([pP])(?:\{(\w+)\}|(\w))")
_CODE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|0([0-7]{1,3}))")
_POSSESSIVE = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\+")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\??")


class PatternError(ValueError):
    """A pattern that Java has and RE2 has not; its text says what."""


@dataclass(frozen=True)
class Translated:
    """A pattern of RE2, and how many groups it has."""

    pattern: str
    groups: int


def translate(pattern: str, *, match_only: bool = False) -> Translated:
    r"""The pattern for RE2. match_only: it does not matter which text was matched.

    >>> translate("(?<year>[0-9]+)-.")
    Translated(pattern='(?P<g1>[0-9]+)-[^\\n\\r\\x{85}\\x{2028}\\x{2029}]', groups=1)
    """
    reader = _Reader(pattern, match_only)
    return Translated(reader.read(), reader.groups)


class _Reader:
    """Goes through a pattern once, from left to right."""

    def __init__(self, pattern: str, match_only: bool) -> None:
        self._text, self._at, self._match_only = pattern, 0, match_only
        self.groups = 0
        self._all_ends = bool(re.match(r"\(\?[imU]*s", pattern))
        self._by_line = bool(re.match(r"\(\?[isU]*m", pattern))

    def read(self) -> str:
        found = []
        while self._at < len(self._text):
            found.append(self._next())
        return "".join(found)

    def _next(self) -> str:
        letter = self._text[self._at]
        if letter == "\\":
            return self._escape(in_class=False)
        if letter == "[":
            return self._class()
        if letter == "(":
            return self._group()
        if letter in "*+?{":
            return self._quantifier()
        self._at += 1
        if letter == ".":
            return "." if self._all_ends else f"[^{_ENDS_OF_LINES}]"
        if letter == "$" and not self._by_line:
            return r"(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z" if self._match_only else r"\z"
        return letter

    def _quantifier(self) -> str:
        if _POSSESSIVE.match(self._text, self._at):
            raise PatternError("a possessive quantifier such as *+")
        match = _QUANTIFIER.match(self._text, self._at)
        found = match.group() if match else "\\{"
        self._at += len(match.group()) if match else 1
        return found

    def _group(self) -> str:
        match = _GROUP.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
            self.groups += 1
            return f"(?P<g{self.groups}>"
        match = _FLAGS.match(self._text, self._at)
        if match is None:
            raise PatternError("look-ahead, look-behind or another group that begins with (?")
        self._at = match.end()
        return match.group()

    def _escape(self, *, in_class: bool) -> str:
        text, at = self._text, self._at
        letter = text[at + 1 : at + 2]
        if letter == "Q" and not in_class:
            end = text.find("\\E", at + 2)
            self._at = len(text) if end < 0 else end + 2
            return re.escape(text[at + 2 : len(text) if end < 0 else end])
        match = _PROPERTY.match(text, at)
        if match is not None:
            self._at = match.end()
            return self._property(*match.groups(), in_class=in_class)
        match = _CODE.match(text, at)
        if match is not None:
            self._at = match.end()
            *hexadecimal, octal = match.groups()
            code = next((int(each, 16) for each in hexadecimal if each), None)
            return f"\\x{{{int(octal, 8) if code is None else code:x}}}"
        self._at += 2
        return self._letter(letter, in_class=in_class)

    def _letter(self, letter: str, *, in_class: bool) -> str:
        if letter.lower() in _CLASSES and letter:
            inside = _CLASSES[letter.lower()]
            if letter.islower():
                return inside if in_class else f"[{inside}]"
            if in_class:
                raise PatternError(f"\\{letter} within [ ]")
            return f"[^{inside}]"
        if letter == "e":
            return r"\x1b"
        if letter == "Z":
            return r"(?:\r\n|[\n\r])?\z" if self._match_only else r"\z"
        if letter in "dDwWbBAztnrfa" and letter:
            return f"\\{letter}"
        if letter.isalnum() or not letter:
            raise PatternError(f"\\{letter}, such as a reference back to a group")
        return re.escape(letter)

    def _property(self, sign: str, name: str | None, short: str | None, *, in_class: bool) -> str:
        word = short or name or ""
        if word in _POSIX:
            if sign == "P" and in_class:
                raise PatternError(f"\\P{{{word}}} within [ ]")
            return _POSIX[word] if in_class else f"[{'^' if sign == 'P' else ''}{_POSIX[word]}]"
        word = word.removeprefix("Is") if word.startswith("Is") else word
        if word.startswith(("java", "In")) or word == "Alphabetic":
            raise PatternError(f"the class \\p{{{name}}}")
        return f"\\{sign}{{{word}}}"

    def _class(self) -> str:
        found = "["
        self._at += 1
        if self._text.startswith("^", self._at):
            found, self._at = "[^", self._at + 1
        while self._at < len(self._text) and self._text[self._at] != "]":
            letter = self._text[self._at]
            if letter == "[" or self._text.startswith("&&", self._at):
                raise PatternError("a class within a class, or && in one")
            if letter == "\\":
                found += self._escape(in_class=True)
            else:
                found += letter
                self._at += 1
        self._at += 1
        return f"{found}]"


def replacement_of(text: str, groups: int) -> str | None:
    """Java's replacement ($1, with a backslash before a sign) as RE2's; None: it is none."""
    found, at = "", 0
    while at < len(text):
        letter = text[at]
        if letter == "\\":
            if at + 1 == len(text):
                return None
            found += text[at + 1].replace("\\", "\\\\")
            at += 2
        elif letter == "$":
            match = re.compile(r"\$([0-9])").match(text, at)
            if match is None or int(match.group(1)) > groups:
                return None
            found += f"\\{match.group(1)}"
            at = match.end()
        else:
            found += letter
            at += 1
    return found
