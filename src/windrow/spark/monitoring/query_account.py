"""What became of the rows of a query, added up over buckets and batches, as JSON can hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from windrow.rows.set_aside import AsideRow, QueryLedger
from windrow.spark.worker.shard_output import ShardOutput

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["account_after", "ledger_of", "new_ledger"]


def new_ledger(plan: RunnablePlan) -> QueryLedger:
    """The ledger of a query that has taken no row."""
    return QueryLedger([entry.alias for entry in plan.inputs])


def account_after(
    plan: RunnablePlan,
    before: Mapping[str, Any],
    outputs: Sequence[ShardOutput],
    noted: QueryLedger,
) -> dict[str, Any]:
    """The account after a batch; noted: groups that the driver set aside in it."""
    ledger = ledger_of(plan, before)
    ledger.add(noted)
    for output in outputs:
        for entry in plan.inputs:
            ledger.rows_in[entry.alias] += output.rows_in.get(entry.stream.name, 0)
        for name, count in output.aside.get("counts", {}).items():
            ledger.set_aside[name] += count
        ledger.rows.extend(AsideRow(*row) for row in output.aside.get("rows", ()))
    return {
        "rows_in": ledger.rows_in,
        "set_aside": ledger.set_aside,
        "rows": [list(row) for row in ledger.rows],
    }


def ledger_of(plan: RunnablePlan, account: Mapping[str, Any]) -> QueryLedger:
    """The ledger that an account holds; a new one where nothing was counted."""
    ledger = new_ledger(plan)
    ledger.rows_in.update(account.get("rows_in", {}))
    ledger.set_aside.update(account.get("set_aside", {}))
    ledger.rows.extend(AsideRow(*row) for row in account.get("rows", ()))
    return ledger
