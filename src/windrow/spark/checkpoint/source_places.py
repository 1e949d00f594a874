"""Where sources stood, read from Spark's part of a checkpoint and put into that of another.

Spark keeps offsets by batch, and sources of files a log of what they have read. A new checkpoint
whose batch 0 has put the state into the store gets both as if that batch had read all of it.
"""

from __future__ import annotations

import json

from windrow.carryover.positions import Positions
from windrow.rows.frames import read_frame, write_frame
from windrow.spark.checkpoint.beginning import read_beginning
from windrow.spark.checkpoint.control_log import replace_log
from windrow.spark.checkpoint.spark_part import last_offsets, source_offsets
from windrow.storage import Storage

__all__ = ["DONE", "POSITIONS", "places_after", "put_places", "read_places", "save_places"]

# In the folder of a beginning.
POSITIONS = "positions.frame"
DONE = "done"

_KIND = "positions"


def places_after(spark: Storage, batch: int) -> Positions:
    """Where the sources stood after a batch, which is over; and where the next one was to end."""
    lines = tuple(source_offsets(spark, batch))
    sources = spark.under("sources")
    logs = {}
    for number in range(len(lines)):
        folder = sources.under(str(number))
        for name in folder.names():
            logs[f"{number}/{name}"] = folder.read(name) or b""
    return Positions(lines, logs, _pending(spark, batch + 1))


def _pending(spark: Storage, batch: int) -> tuple[str, ...]:
    if last_offsets(spark) < batch:
        return ()
    data = spark.under("offsets").read(str(batch)) or b""
    return tuple(data.decode().splitlines()[1:])


def save_places(folder: Storage, positions: Positions) -> None:
    """Writes them where a checkpoint begins."""
    names = list(positions.logs)
    header = {"lines": positions.lines, "pending": positions.pending, "logs": names}
    folder.write(POSITIONS, write_frame(_KIND, header, [positions.logs[name] for name in names]))


def read_places(folder: Storage) -> Positions:
    """What was written there."""
    data = read_beginning(folder, POSITIONS)
    header, sections = read_frame(_KIND, data, f"{POSITIONS} of the checkpoint")
    logs = dict(zip(header["logs"], map(bytes, sections), strict=True))
    return Positions(tuple(header["lines"]), logs, tuple(header["pending"]))


def put_places(spark: Storage, positions: Positions) -> None:
    """Sources have read so far with batch 0, which is over; a batch that was begun is begun."""
    spark.remove_folder("sources")
    sources = spark.inside("sources")
    for name, data in positions.logs.items():
        number, _, file = name.partition("/")
        sources.inside(number).write(file, data)
    offsets = spark.under("offsets")
    version, facts = (offsets.read("0") or b"").decode().splitlines()[:2]
    if positions.pending:
        begun, *lines = positions.pending
        # When it began stays; that of its settings are those of this run.
        known = {**json.loads(begun), "conf": json.loads(facts)["conf"]}
        offsets.write("1", "\n".join([version, json.dumps(known), *lines]).encode())
    replace_log(offsets, "0", "\n".join([version, facts, *positions.lines]).encode())
