"""Every error of ours is made with a hint: what to do."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
# These add a hint to the code that they are given.
ADDING = {"not_admitted", "_missing", "DiffersError"}


def errors_in(source: Path) -> list[ast.Call]:
    """Calls whose first argument is a code."""
    calls = ast.walk(ast.parse(source.read_text(encoding="utf-8")))
    return [
        call
        for call in calls
        if isinstance(call, ast.Call)
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and re.fullmatch(r"W[A-Z]\d{3}", str(call.args[0].value))
    ]


def has_hint(call: ast.Call, *, in_plan: bool) -> bool:
    """By name, or behind the message and, in a plan, what is at fault."""
    if any(keyword.arg == "hint" for keyword in call.keywords):
        return True
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in ADDING or len(call.args) >= (4 if in_plan else 3)


def test_every_error_has_a_hint() -> None:
    made = [(source, call) for source in SOURCE.rglob("*.py") for call in errors_in(source)]
    assert len(made) > 300
    silent = [
        f"{source.relative_to(SOURCE)}:{call.lineno}"
        for source, call in made
        if not has_hint(call, in_plan=source.parent.name == "plan")
    ]
    assert silent == []


@pytest.mark.parametrize("text", ['DataError("WD101", "wrong")', 'scope.wrong("WB101", m, node)'])
def test_one_without_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(text)
    (call,) = errors_in(tmp_path / "some.py")
    assert not has_hint(call, in_plan="scope" in text)
