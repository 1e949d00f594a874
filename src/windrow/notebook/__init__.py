"""Sessions, queries and tables as notebooks show them, and charts that follow a query."""

from windrow.notebook.charting import chart
from windrow.notebook.shown import Shown, show

__all__ = ["Shown", "chart", "show"]
