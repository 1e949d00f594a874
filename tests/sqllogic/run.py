"""By hand: `PYTHONPATH=src:tests python -m sqllogic.run [files] [--every K] [--show wrong]`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from sqllogic.records import Corpus, read_corpus
from sqllogic.running import GROUP, Outcome, run_corpus

__all__ = ["corpus_folder", "main"]


def corpus_folder() -> Path | None:
    """The folder of the files, which lies beside the checkout, or further up; None without it."""
    for parent in Path(__file__).resolve().parents[2:]:
        folder = parent / "shared" / "data" / "sqllogictest"
        if folder.is_dir():
            return folder
    return None


def main() -> int:
    """Runs files and prints how many questions came to which end; 1 if any is wrong."""
    options = _options()
    folder = corpus_folder()
    if folder is None:
        print("no folder shared/data/sqllogictest beside the checkout", file=sys.stderr)
        return 2
    paths = sorted(folder.glob("*.test.gz"))
    chosen = [p for p in paths if not options.files or any(f in p.name for f in options.files)]
    total: Counter[tuple[str, str]] = Counter()
    for path in chosen:
        total += _run(read_corpus(path), options)
    if len(chosen) > 1:
        _print_counts("all", total)
    return int(any(verdict in ("wrong", "error") for verdict, _ in total))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="parts of names of files; all without any")
    parser.add_argument("--limit", type=int, help="at most so many questions of a file")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th question")
    parser.add_argument("--first", type=int, default=0, help="begin at this question")
    parser.add_argument("--line", type=int, help="only the question that begins at this line")
    parser.add_argument("--group", type=int, default=GROUP, help="questions in one session")
    parser.add_argument("--show", nargs="*", default=[], help="verdicts or codes to show")
    parser.add_argument("--most", type=int, default=10, help="how many to show of each")
    return parser.parse_args()


def _run(corpus: Corpus, options: argparse.Namespace) -> Counter[tuple[str, str]]:
    asked = corpus.queries[options.first :: options.every][: options.limit]
    if options.line is not None:
        asked = tuple(each for each in corpus.queries if each.line == options.line)
    counts: Counter[tuple[str, str]] = Counter()
    begun = time.perf_counter()
    for outcome in run_corpus(corpus, asked, options.group):
        kind = (outcome.verdict, outcome.reason)
        counts[kind] += 1
        if {outcome.verdict, outcome.reason} & set(options.show) and counts[kind] <= options.most:
            _print_outcome(corpus, outcome)
    seconds = time.perf_counter() - begun
    _print_counts(corpus.name, counts)
    print(f"  {seconds:.1f} s, {1e3 * seconds / max(1, len(asked)):.1f} ms a question", flush=True)
    return counts


def _print_outcome(corpus: Corpus, outcome: Outcome) -> None:
    print(f"-- {corpus.name}, line {outcome.query.line}: {outcome.verdict} {outcome.reason}")
    print(outcome.query.sql)
    print(outcome.detail, flush=True)


def _print_counts(name: str, counts: Counter[tuple[str, str]]) -> None:
    print(f"{name}: {counts.total()} questions")
    for (verdict, reason), count in sorted(counts.items()):
        print(f"  {count:6} {verdict}{', ' if reason else ''}{reason}")


if __name__ == "__main__":
    sys.exit(main())
