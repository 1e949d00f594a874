"""Segments of rows in order, and the frame of each row in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.changes import Vector
from windrow.operators.relations.frame_kernels import range_edges
from windrow.operators.relations.order_words import Matrix
from windrow.operators.relations.span_kernels import (
    NODE_COUNT,
    NODE_IS_SHOWN,
    NODE_ROW,
    SEGMENT_AT,
    SEGMENT_BEGIN,
    SEGMENT_SIGN,
)
from windrow.plan.relations.algebra import Frame, OrderKey
from windrow.windows.column_words import words_of_array

__all__ = ["Segments", "frame_bounds", "segments_of"]

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Segments:
    """Copies of rows, segment after segment, each in order.

    rows: codes. at, sign: of the segment. begins, ends: where the segment of each copy does.
    first_peer, behind_peers: where the peers of each begin and end. shown: the places asked for.
    """

    rows: Vector
    at: Vector
    sign: Vector
    begins: Vector
    ends: Vector
    first_peer: Vector
    behind_peers: Vector
    shown: Vector


def segments_of(nodes: Matrix, segments: Matrix, keys: Matrix) -> Segments:
    """Every copy of traced rows; keys: the words of the keys of each node."""
    counts = nodes[:, NODE_COUNT]
    size = int(counts.sum())
    lengths = np.diff(segments[:, SEGMENT_BEGIN], append=nodes.shape[0])
    segment = np.repeat(np.repeat(np.arange(lengths.size), lengths), counts)
    places = np.arange(size)
    edges = np.flatnonzero(np.diff(segment, prepend=-1))
    begins, ends = edges[segment], np.append(edges[1:], size)[segment]
    is_first = np.ones(nodes.shape[0], np.bool_)
    is_first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    is_first[segments[:, SEGMENT_BEGIN]] = True
    # All copies of a node are peers; a group of peers begins with the first copy of a node.
    node_begins = np.cumsum(counts) - counts
    groups = node_begins[is_first]
    group = np.searchsorted(groups, places, "right") - 1
    return Segments(
        rows=np.repeat(nodes[:, NODE_ROW], counts),
        at=segments[segment, SEGMENT_AT],
        sign=segments[segment, SEGMENT_SIGN],
        begins=begins,
        ends=ends,
        first_peer=groups[group],
        behind_peers=np.append(groups[1:], size)[group],
        shown=np.flatnonzero(np.repeat(nodes[:, NODE_IS_SHOWN], counts)),
    )


def frame_bounds(
    frame: Frame, segments: Segments, order: OrderKey | None, keys: pa.Array | None
) -> tuple[Vector, Vector]:
    """For each copy the first of its frame, and the one behind the last; never in wrong order.

    order, keys: the key and its values, where the frame has a distance on it.
    """
    places = np.arange(segments.rows.size)
    if frame.unit == "rows":
        low = segments.begins if frame.start is None else places + int(frame.start)
        high = segments.ends if frame.end is None else places + int(frame.end) + 1
        low, high = (np.clip(each, segments.begins, segments.ends) for each in (low, high))
    else:
        low = _edge(frame.start, False, segments, order, keys)
        high = _edge(frame.end, True, segments, order, keys)
    return low, np.maximum(low, high)


def _edge(
    bound: float | None,
    is_end: bool,
    segments: Segments,
    order: OrderKey | None,
    keys: pa.Array | None,
) -> Vector:
    if bound is None:
        return segments.ends if is_end else segments.begins
    peers = segments.behind_peers if is_end else segments.first_peer
    if bound == 0:
        return peers
    assert order is not None
    assert keys is not None
    numbers, is_number = _numbers(keys, order.is_descending)
    out = np.empty(numbers.size, np.int64)
    distance: float = float(bound)
    if numbers.dtype == np.int64:
        exact = _exact_distance(bound, keys.type)
        # Between two integers there is none: a bound that is no integer moves to the next inside.
        distance = math.floor(exact) if is_end else math.ceil(exact)
    range_edges(numbers, is_number, segments.begins, segments.ends, distance, is_end, peers, out)
    return out


def _exact_distance(bound: float, kind: pa.DataType) -> Fraction:
    exact = Fraction(str(bound))
    return exact * 10**kind.scale if pa.types.is_decimal(kind) else exact


def _numbers(keys: pa.Array, is_descending: bool) -> tuple[Vector | NDArray[np.float64], Flags]:
    """Keys as numbers that do not decrease along the order, and where they are any."""
    words, present = words_of_array(keys)
    is_number = present != 0 if present.size else np.ones(words.size, np.bool_)
    if not pa.types.is_floating(keys.type):
        # The complement keeps distances, and has a value for the least integer too.
        return (~words if is_descending else words), is_number
    doubles = words.view(np.float64)
    is_number = is_number & ~np.isnan(doubles)
    return (-doubles if is_descending else doubles), is_number
