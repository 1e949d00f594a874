"""Alerts in a snapshot: which groups are pending or raised, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windrow.alerts.bound_alert import bound_again
from windrow.durable.saved_parts import SavedParts, SavedReader

if TYPE_CHECKING:
    from windrow.durable.session import DurableSession
    from windrow.embedded.alert_run import AlertRun

__all__ = ["load_alert", "saved_alert"]


def saved_alert(alert: AlertRun, parts: SavedParts) -> dict[str, Any]:
    """An alert, whose query is saved beside it."""
    saved = alert.machine.saved()
    return {
        "key": list(alert.bound.key),
        "for_us": alert.bound.for_us,
        "numbers": saved["numbers"],
        "groups": parts.add_table(saved["groups"]),
    }


def load_alert(
    session: DurableSession, name: str, saved: dict[str, Any], parts: SavedReader
) -> None:
    """Back into a session whose queries were registered again."""
    query = session[name]
    bound = bound_again(name, query.text, query.plan, tuple(saved["key"]), saved["for_us"])
    run = session.begin_alert(bound, query)
    groups = parts.table(saved["groups"])
    run.machine.restore({"numbers": saved["numbers"], "groups": groups})
