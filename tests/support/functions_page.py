"""The tables of functions in docs/reference/functions.md, made from their entries.

`python -m support.functions_page` writes them anew between the two headings; a test compares them.
"""

from __future__ import annotations

from pathlib import Path

from windrow.scalar_functions import AREAS, Kind, ScalarFunction

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "functions.md"
BEGIN, END = "## Functions\n", "## Operators\n"
HEAD = "| function | takes | gives | example | value | as in Spark |\n" + "| --- " * 6 + "|\n"
INTRODUCTION = (
    "NULL in, NULL out, unless the function is about NULL. Brackets hold what can be left out; what"
    " repeats has dots. Integers are computed as BIGINT,\nwhere Spark keeps a narrower type; "
    "otherwise a function is the same in Spark unless its last column says what differs.\n"
)
WORDS = {
    Kind.TEXT: "STRING",
    Kind.NUMBER: "number",
    Kind.TEXT_OR_BINARY: "STRING or BINARY",
    Kind.ANY: "any",
    Kind.ALIKE: "alike",
}


def section() -> str:
    """All tables, area by area."""
    parts = [f"{BEGIN}\n{INTRODUCTION}\n"]
    for area, functions in AREAS.items():
        if functions:
            rows = "".join(_row(each) for each in sorted(functions, key=lambda each: each.name))
            parts.append(f"### {area}\n\n{HEAD}{rows}\n")
    return "".join(parts)


def _row(function: ScalarFunction) -> str:
    names = ", ".join(f"`{name.upper()}`" for name in (function.name, *function.also))
    cells = [
        names,
        takes(function),
        gives(function),
        f"`{function.example}`",
        function.value,
        function.differs or "same",
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def takes(function: ScalarFunction) -> str:
    """The arguments in short."""
    shown = [_argument(function, place) for place in range(len(function.takes))]
    required = ", ".join(shown[: function.least])
    optional = "".join(f" [, {each}" for each in shown[function.least :])
    closing = "]" * function.optional
    text = (required + optional + closing).removeprefix(" ").replace("[, ", "[, ", 1)
    text = text if required else text.replace("[, ", "[", 1)
    return text + (", ..." if function.repeats else "") or "nothing"


def _argument(function: ScalarFunction, place: int) -> str:
    argument = function.argument(place)
    word = WORDS.get(argument.kind, argument.kind.name)
    return f"constant {word}" if argument.is_constant else word


def gives(function: ScalarFunction) -> str:
    """The type in words: the rule's own one line where it is a rule."""
    if not callable(function.gives):
        return str(function.gives)
    words = (function.gives.__doc__ or "").splitlines()[0].rstrip(".")
    return words[0].lower() + words[1:] if not words[1:2].isupper() else words


def written(page: str) -> str:
    """The page with the tables in their place."""
    before, _, rest = page.partition(BEGIN)
    return before + section() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
