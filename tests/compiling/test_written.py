"""Written functions compute, and can do nothing else."""

from __future__ import annotations

import pytest

from windrow.compiling.written import written


@pytest.mark.parametrize(
    "body",
    [
        "import os",
        "return (1).__class__",
        "return x.__globals__",
        "return [y for y in x]",
        "return lambda: 1",
        "return f'{x}'",
        "global x",
    ],
)
def test_a_text_that_is_more_than_arithmetic_is_refused(body: str) -> None:
    with pytest.raises(AssertionError, match="a written function"):
        written(f"def f(x):\n    {body}", "f", {})


@pytest.mark.parametrize("name", ["open", "eval", "__import__", "getattr"])
def test_names_from_elsewhere_are_not_there(name: str) -> None:
    made = written(f"def f(x):\n    return {name}(x)", "f", {})
    with pytest.raises(NameError):
        made("x")
