"""The state of a query after its last batch, combined from what its shards report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from windrow.event_time import START_OF_TIME
from windrow.plan.figures import Figures, combined_figures
from windrow.runtime.ledger import Ledger, total_ledger
from windrow.spark.shuffle.heavy_keys import faded
from windrow.spark.shuffle.window_limits import WindowLimits
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.window_report import WindowReport

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["QueryStatus"]


@dataclass
class QueryStatus:
    """The sums over all buckets."""

    batch_id: int = -1
    clock_us: int | None = None
    complete_us: dict[str, int] = field(default_factory=dict)
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    windows: list[WindowReport] = field(default_factory=list)  # one per input
    limits: WindowLimits = field(default_factory=WindowLimits)
    first_us: int | None = None  # from when DURATION counts
    first_batch: int = 0  # later than the first where it joined others that ran
    began_us: int = START_OF_TIME  # the clock at which it did
    state_bytes: int = 0
    segments: int = 0
    rebuilt: int = 0  # buckets whose live shard was rebuilt in the last batch
    rebuilt_so_far: int = 0
    bucket_rows: list[int] = field(default_factory=list)  # rows held, by bucket
    bucket_bytes: list[int] = field(default_factory=list)  # and what they and their sums take
    heavy: list[list[Any]] = field(default_factory=list)  # shuffle.heavy_keys
    answers: int = 0  # rows given so far
    batch_ms: float = 0.0
    algorithms: list[str] = field(default_factory=list)  # in use, over all buckets
    figures: dict[str, Any] | None = None  # what the cost model knows, over all buckets
    account: dict[str, Any] = field(default_factory=dict)  # monitoring.query_account
    # Of a tree: by stage the bytes of nodes, and the algorithms of blocks.
    tree: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, dict[str, int]] = field(default_factory=dict)  # rows, waiting and bytes

    @classmethod
    def new(cls, plan: RunnablePlan) -> QueryStatus:
        """The status before the first batch."""
        return cls(
            ledgers={stream: Ledger() for stream in plan.streams},
            windows=[WindowReport(input_index) for input_index in range(len(plan.inputs))],
        )

    def absorb(self, batch_id: int, outputs: Sequence[ShardOutput], answers: int) -> None:
        """Takes the reports of one batch; of a tree in stages, those of the first stage first."""
        self.batch_id = batch_id
        first = [each for each in outputs if each.stage == 0]
        self.clock_us = outputs[0].clock_us
        self.complete_us = outputs[0].complete_us
        self.ledgers = {
            stream: total_ledger(each.ledgers[stream] for each in first)
            for stream in outputs[0].ledgers
        }
        reports = [window for each in outputs for window in each.windows]
        self.windows = [WindowReport.total(each.position, reports) for each in self.windows]
        self.limits, self.first_us = outputs[0].limits, outputs[0].first_us
        self.state_bytes = sum(each.state_bytes for each in outputs)
        self.segments = sum(each.segment_count for each in outputs)
        self.rebuilt = sum(each.was_rebuilt for each in outputs)
        self.rebuilt_so_far += self.rebuilt
        self.bucket_rows = [sum(window.rows for window in each.windows) for each in first]
        self.bucket_bytes = [sum(window.bytes for window in each.windows) for each in first]
        self.heavy = faded(self.heavy, [count for each in outputs for count in each.heavy])
        self.answers += answers
        reported = [each.running for each in outputs if each.running]
        if reported:
            self.algorithms = sorted({each["algorithm"] for each in reported})
        if reported and "sizes" in reported[0]:
            self.tree = {"sizes": _sizes(outputs), "blocks": reported[0]["blocks"]}
            self.tables = _held([each.running["tables"] for each in first if each.running])
        elif reported and "figures" in reported[0]:  # rows that pass are not counted on
            parts = [Figures.from_json(each["figures"]) for each in reported]
            self.figures = asdict(combined_figures(parts))

    @property
    def window_bytes(self) -> int:
        """What all windows take, over all buckets."""
        return sum(window.bytes for window in self.windows)

    def to_dict(self) -> dict[str, Any]:
        """The status as JSON can hold it."""
        windows = [window.to_json() for window in self.windows]
        return {**asdict(self), "windows": windows, "limits": self.limits.to_json()}

    @classmethod
    def from_dict(cls, plan: RunnablePlan, saved: dict[str, Any]) -> QueryStatus:
        """The status that was saved."""
        if not saved:
            return cls.new(plan)
        parts = dict(saved)
        parts["ledgers"] = {name: Ledger(**counts) for name, counts in saved["ledgers"].items()}
        parts["windows"] = [WindowReport.from_json(numbers) for numbers in saved["windows"]]
        parts["limits"] = WindowLimits.from_json(saved["limits"])
        return cls(**parts)


def _sizes(outputs: Sequence[ShardOutput]) -> list[list[int]]:
    """By stage, what each node takes in all its buckets."""
    by_stage: dict[int, list[list[int]]] = {}
    for each in outputs:
        if each.running:
            by_stage.setdefault(each.stage, []).append(each.running["sizes"])
    return [[sum(parts) for parts in zip(*own, strict=True)] for own in by_stage.values()]


def _held(reports: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, int]]:
    """What tables hold over all buckets; copies have bytes, but no rows of their own."""
    return {
        name: {
            "bytes": sum(each[name]["bytes"] for each in reports),
            **{what: sum(each[name][what] for each in reports) for what in ("rows", "waiting")},
        }
        for name in reports[0]
    }
