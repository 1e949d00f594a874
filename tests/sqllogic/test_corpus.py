"""SQLite's sqllogictest files, as far as they are there, against a session of this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from sqllogic.records import Query, read_corpus
from sqllogic.run import corpus_folder
from sqllogic.running import run_corpus

FOLDER = corpus_folder()
# They are not part of the project: shared/data/sqllogictest lies beside the checkout, or nowhere.
FILES = [
    *("random-aggregates-0", "random-expr-0", "random-groupby-0", "random-select-0"),
    *("select1", "select2", "select3", "select4", "select5"),
]
needs_files = pytest.mark.skipif(FOLDER is None, reason="no shared/data/sqllogictest")
EVERY = 200
ALLOWED = {
    "WB243": "SQLite takes a column that is neither grouped nor aggregated from any row",
}


@needs_files
@pytest.mark.parametrize("name", FILES)
def test_a_sample(name: str) -> None:
    check(name, slice(None, None, EVERY))


@needs_files
@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_all_questions(name: str) -> None:
    check(name, slice(None))


def check(name: str, chosen: slice) -> None:
    assert FOLDER is not None
    corpus = read_corpus(FOLDER / f"{name}.test.gz")
    asked: Sequence[Query] = corpus.queries[chosen]
    ends: Counter[str] = Counter()
    for outcome in run_corpus(corpus, asked):
        ends[outcome.verdict] += 1
        if outcome.verdict == "refused" and outcome.reason in ALLOWED:
            continue
        told = f"{name}, line {outcome.query.line}: {outcome.reason}\n{outcome.query.sql}\n"
        assert outcome.verdict in ("agreed", "agreed with DuckDB"), told + outcome.detail
    assert ends.total() == len(asked)
    # Few answers hang on typing: were it many, the files themselves would say little.
    assert ends["agreed"] >= 0.9 * len(asked)
