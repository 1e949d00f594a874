"""The checkpoint directory of a continuous question about the past; it lies as a query's does."""

from __future__ import annotations

import json
from typing import Any

from windrow.errors import CheckpointError
from windrow.plan.history_plan import HistoryPlan
from windrow.spark.checkpoint.history_declaration import declared
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.version import __version__

__all__ = ["QUESTION_FORMAT", "QuestionCheckpoint"]

# A query's owner has a number here: neither takes the other's directory for its own.
QUESTION_FORMAT = "question 1"

_OWNER = "windrow.json"


class QuestionCheckpoint(QueryCheckpoint):
    """The directories of one question, checked to be its own."""

    @property
    def generation(self) -> int:
        """Its state is never moved."""
        return 0

    def claim_for(self, plan: HistoryPlan) -> None:
        """Takes a new directory for this question, or checks that an old one is its own."""
        mine = {"format": QUESTION_FORMAT, "query": plan.text, **declared(plan.history)}
        data = self.storage.read(_OWNER)
        self.identity()
        if data is None:
            self.storage.write(_OWNER, json.dumps({**mine, "windrow": __version__}).encode())
            return
        theirs = self._parts(data)
        for what, wanted in json.loads(json.dumps(mine)).items():
            if theirs.get(what) != wanted:
                raise CheckpointError(
                    "WC210",
                    f"the checkpoint of query {self.query!r} belongs to something else: its {what} "
                    f"is {theirs.get(what)!r}, this query's is {wanted!r}",
                    hint="give the query another name or another checkpoint directory",
                )

    def _parts(self, data: bytes) -> dict[str, Any]:
        try:
            return dict(json.loads(data))
        except (ValueError, TypeError) as problem:
            raise CheckpointError(
                "WC211",
                f"{_OWNER} in the checkpoint of query {self.query!r} is damaged: {problem}",
                hint="restore the checkpoint directory from a copy, or start with a new one",
            ) from problem
