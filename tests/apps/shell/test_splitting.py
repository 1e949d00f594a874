"""Where statements end, and when Enter runs them."""

from __future__ import annotations

import pytest

from windrow.apps.shell.splitting import is_complete, split


@pytest.mark.parametrize(
    ("text", "statements", "rest"),
    [
        ("", [], ""),
        (" ; ;; ", [], ""),
        ("SELECT 1; SELECT 2;", ["SELECT 1;", "SELECT 2;"], ""),
        ("SELECT ';' FROM s", [], "SELECT ';' FROM s"),
        ("SELECT `a;b`; x", ["SELECT `a;b`;"], "x"),
        ("SELECT 'it\\'s;' ;", ["SELECT 'it\\'s;' ;"], ""),
        ("-- no; end\nSELECT 1;", ["-- no; end\nSELECT 1;"], ""),
        ("SELECT 1; -- done; really", ["SELECT 1;"], ""),
        ("SELECT /* ; */ 1;\n\\d s\n\\q", ["SELECT /* ; */ 1;", "\\d s", "\\q"], ""),
        ("-- what there is;\n/* all */ \\d\nSELECT 1;", ["\\d", "SELECT 1;"], ""),
        ("\\push s 'a;b.csv'", ["\\push s 'a;b.csv'"], ""),
        ("SELECT 'never ends;", ["SELECT 'never ends;"], ""),
    ],
)
def test_statements_end_at_semicolons(text: str, statements: list[str], rest: str) -> None:
    assert split(text) == (statements, rest)


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("\\d", True),
        ("", False),
        ("a; b", False),
        ("Help", True),
    ],
)
def test_enter_runs_what_is_complete(text: str, complete: bool) -> None:
    assert is_complete(text) == complete
