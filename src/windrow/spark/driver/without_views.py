"""What a session on Spark says to those who name a view."""

from __future__ import annotations

from windrow.errors import UnsupportedError

__all__ = ["WithoutViews"]


class WithoutViews:
    """Views run in one process only."""

    def view(self, name: str, text: str) -> None:
        """Refused on Spark: write the query of the view where it is read.

        Example::

            session.view("busy", "SELECT k FROM s [1 MINUTE]")  # raises UnsupportedError: WU249
        """
        del text
        raise UnsupportedError(
            "WU249",
            f"view {name!r}: views are not supported on Spark yet",
            hint="write its query where it is read, or connect in this process: windrow.connect()",
        )
