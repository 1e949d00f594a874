"""From a question about an interval to its answer: which nodes are whole, which are cut."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from windrow.history.answers.answer import Answer, Interval
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import Reals
from windrow.history.cells.kernels import EXACT, LEFT, PARTS, RIGHT
from windrow.history.groups import Groups
from windrow.history.nodes.kernels import add_up
from windrow.history.past import NO_CUT, Archived, Past
from windrow.history.regions import Regions
from windrow.history.sketches.sketch_answer import SketchAnswer
from windrow.history.sketches.sketch_levels import SketchLevels
from windrow.history.spec import HistorySpec
from windrow.history.state_kernels import REAL_STEP, ROWS
from windrow.history.storage import Reading, Storage

__all__ = ["Question", "answer_to"]

Span = tuple[int, int]
NO_KEYS = pa.table({})


@dataclass(frozen=True)
class Question:
    """An interval, the finest level to look at (None: rows too), and which groups."""

    interval: Interval
    level: int | None
    keys: pa.Table | None
    total: bool


class Kept(Protocol):
    """All that a history keeps."""

    spec: HistorySpec
    storage: Storage
    groups: Groups
    past: Past
    sketches: SketchLevels


@dataclass
class _Sources:
    """Memory, and what was read from the archive for one question, with the codes of its groups."""

    storage: Storage
    archived: Archived | None
    codes: Longs

    def read(self, reading: Reading, since_us: int, until_us: int, target: int) -> None:
        if since_us >= until_us:
            return
        self.storage.read(reading, since_us, until_us, target)
        if self.archived is not None:
            self.archived.add_to(reading, self.codes, since_us, until_us, target)


def answer_to(kept: Kept, question: Question) -> Answer:
    """The answer, from all that is held and all that is archived."""
    codes = kept.groups.held()
    if question.keys is None and not kept.past.is_archived:
        return _answer(kept, question, codes, _Sources(kept.storage, None, codes))
    with ExitStack() as stack:
        archived_codes = codes
        archived = _archived(kept, question)
        if archived is not None:
            named = {name: archived.keys.column(name) for name in archived.keys.column_names}
            archived_codes = np.zeros(archived.ends.size, np.int64)
            if named:
                archived_codes = stack.enter_context(kept.groups.found(named))
            codes = np.union1d(codes, archived_codes)
        if question.keys is not None and kept.spec.keys:
            named = {name: question.keys.column(name) for name in question.keys.column_names}
            codes = stack.enter_context(kept.groups.found(named))
        return _answer(kept, question, codes, _Sources(kept.storage, archived, archived_codes))


def _archived(kept: Kept, question: Question) -> Archived | None:
    regions, interval = kept.storage.regions, question.interval
    # A node that is cut may reach over the interval by all of its length.
    level = question.level or 0
    since_us = regions.node(interval.since_us, level)[0]
    until_us = min(regions.node(interval.until_us, level)[1], regions.begin_us)
    return kept.past.archived(since_us, until_us)


def _answer(kept: Kept, question: Question, codes: Longs, sources: _Sources) -> Answer:
    interval, begin_us = question.interval, kept.storage.regions.begin_us
    is_grouped = bool(kept.spec.keys) and not question.total
    reading = Reading(codes, len(kept.spec.measures))
    _read(sources, question, reading)
    if not is_grouped and kept.spec.keys:
        reading = _added_up(reading)
    part = kept.past.part_of(interval, begin_us, is_one=not is_grouped)
    forgotten = NO_CUT
    if part is not None:
        forgotten = kept.past.add_forgotten(reading, part, begin_us, is_one=not is_grouped)
    inside: Interval | None = interval
    outside, shares = interval, np.zeros(reading.cuts.shape[:2])
    if forgotten.size or np.count_nonzero(reading.cuts):
        inside, outside = _borders(interval, np.concatenate([reading.cuts, forgotten]))
        shares = _shares(interval, reading.cuts)
    answer = Answer(
        kept.spec, interval, inside, outside, question.keys if is_grouped else NO_KEYS,
        reading.whole, reading.real, shares,
        (kept.past.whole.copy(), kept.past.real.copy()) if forgotten.size else None,
        _sketches(kept, question, codes, sources, part, is_one=not is_grouped),
    )  # fmt: skip
    return _with_rows(kept, answer, codes) if answer.keys is None else answer


def _with_rows(kept: Kept, answer: Answer, codes: Longs) -> Answer:
    """The answer with its keys, and only the groups that have rows, or may have some."""
    present = np.flatnonzero(answer.whole[ROWS].reshape(-1, PARTS).sum(axis=1))
    states = (PARTS * present[:, None] + np.arange(PARTS)).ravel()
    return replace(
        answer, keys=kept.groups.table(codes[present]), whole=answer.whole[:, states],
        real=answer.real[:, states], shares=answer.shares[present],
        sketches={name: each.taken(present) for name, each in answer.sketches.items()},
    )  # fmt: skip


def _sketches(
    kept: Kept, question: Question, codes: Longs, sources: _Sources, part: int | None,
    *, is_one: bool,
) -> dict[str, SketchAnswer]:  # fmt: skip
    if not kept.sketches.kinds:
        return {}
    inner, left, right = _nodes(kept.storage.regions, question.interval, question.level or 0)
    cuts = [node for node in (left, right) if node is not None]
    outer = (min([inner[0], *(node[0] for node in cuts)]), max([inner[1], *(n[1] for n in cuts)]))
    found = kept.sketches.read(codes, inner, outer, is_one)
    if sources.archived is not None:
        places = {code: 0 if is_one else place for place, code in enumerate(codes.tolist())}
        sources.archived.add_sketches(found, places, sources.codes, inner, outer)
    if part is not None:
        for each in found:
            each[0 if part == EXACT else 1].append(kept.sketches.forgotten)
    return kept.sketches.answers(found)


def _nodes(
    regions: Regions, interval: Interval, level: int
) -> tuple[Span, Span | None, Span | None]:
    """The whole nodes of an interval, and those that it cuts at its left and at its right end."""
    since_us, until_us = interval.since_us, interval.until_us
    if since_us == until_us:
        return (since_us, since_us), None, None
    left, right = regions.node(since_us, level), regions.node(until_us, level)
    first_us = since_us if left[0] == since_us else left[1]
    last_us = until_us if right[0] == until_us else right[0]
    if first_us > last_us:  # it lies within one node
        return (left[1], left[1]), left, None
    is_left, is_right = first_us != since_us, last_us != until_us
    return (first_us, last_us), left if is_left else None, right if is_right else None


def _read(sources: _Sources, question: Question, reading: Reading) -> None:
    interval = question.interval
    if question.level is None:
        sources.read(reading, interval.since_us, interval.until_us, EXACT)
        return
    inner, left, right = _nodes(sources.storage.regions, interval, question.level)
    sources.read(reading, *inner, EXACT)
    if left is not None:
        _cut(sources, reading, left, LEFT)
    if right is not None:
        _cut(sources, reading, right, RIGHT)


def _cut(sources: _Sources, reading: Reading, node: tuple[int, int], part: int) -> None:
    """A node that must not be opened."""
    sources.read(reading, *node, part)
    has_rows = reading.whole[ROWS, part::PARTS] > 0
    reading.cuts[has_rows, part - LEFT] = node


def _shares(interval: Interval, cuts: Longs) -> Reals:
    """How much of each cut node lies in the interval."""
    starts, ends = cuts[..., 0], cuts[..., 1]
    overlap = np.minimum(ends, interval.until_us) - np.maximum(starts, interval.since_us)
    shares: Reals = overlap / np.maximum(ends - starts, 1)
    return shares


def _borders(interval: Interval, cuts: Longs) -> tuple[Interval | None, Interval]:
    """The nearest exact intervals inside and outside."""
    since_us, until_us = interval.since_us, interval.until_us
    is_cut = cuts[..., 1] > cuts[..., 0]
    left, right = cuts[is_cut[:, 0], 0], cuts[is_cut[:, 1], 1]
    inner_since = int(left[:, 1].max(initial=since_us))
    inner_until = int(right[:, 0].min(initial=until_us))
    outer_until = int(right[:, 1].max(initial=max(until_us, inner_since)))
    outside = Interval(int(left[:, 0].min(initial=since_us)), outer_until)
    inside = Interval(inner_since, inner_until) if inner_since < inner_until else None
    return inside, outside


def _added_up(reading: Reading) -> Reading:
    """All groups as one: their trees differ, but all that are cut at an end are so in one node."""
    out = Reading(np.zeros(1, np.int64), reading.real.shape[0] // REAL_STEP)
    add_up(
        np.tile(np.arange(PARTS), reading.codes.size), reading.whole, reading.real, out.whole,
        out.real,
    )  # fmt: skip
    for side in range(2):
        widths = reading.cuts[:, side, 1] - reading.cuts[:, side, 0]
        if widths.any():
            out.cuts[0, side] = reading.cuts[widths.argmax(), side]
    return out
