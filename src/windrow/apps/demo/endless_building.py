"""The smart building without an end: half an hour after the other, as shell and console play it."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from windrow.apps.demo.building import LENGTH_US, SLICE_US, building
from windrow.jobs.player import Piece

__all__ = ["PACE", "PARTS", "endless_building"]

PACE = 60.0  # a minute in a second: the first alarm comes within seconds
PARTS = 12  # of a slice of half a minute, so that charts move smoothly


def endless_building(seed: int = 1) -> Iterator[Piece]:
    """Half an hour after the other, each of another building with fires of its own."""
    shift_us = 0
    while True:
        scene = building(seed)
        for slice_ in scene.slices:
            if slice_.until_us > scene.slices[0].until_us + LENGTH_US - SLICE_US:
                break  # the last readings, which would come late in the next building
            for part in range(PARTS):
                until_us = slice_.until_us - SLICE_US + (part + 1) * SLICE_US // PARTS
                rows = {
                    name: _shifted(_part(table, part), shift_us)
                    for name, table in slice_.rows.items()
                }
                yield Piece(until_us + shift_us, rows)
        seed, shift_us = seed + 1, shift_us + LENGTH_US


def _part(table: pa.Table, part: int) -> pa.Table:
    """One part of a slice, in the order of delivery."""
    first, end = (table.num_rows * each // PARTS for each in (part, part + 1))
    return table.slice(first, end - first)


def _shifted(table: pa.Table, shift_us: int) -> pa.Table:
    place = table.schema.get_field_index("ts")
    times = pc.add(table.column(place).cast(pa.int64()), shift_us)
    return table.set_column(
        place, table.schema.field(place), times.cast(table.schema.field(place).type)
    )
