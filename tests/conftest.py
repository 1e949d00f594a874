"""Hypothesis profiles: HYPOTHESIS_PROFILE names one (few, dev, ci, long); ci is the usual one."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# The examples are the same everywhere, so that a change is judged by itself, and what is green on
# one machine is on another; new ones are drawn by dev and long, and stored when they fail. No
# deadline: the first example of a kernel pays for its compilation.
for _name, _examples in {"few": 5, "dev": 25, "ci": 25, "long": 200}.items():
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        derandomize=_name in ("few", "ci"),
        database=None if _name in ("few", "ci") else settings.default.database,
        print_blob=True,
    )

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "ci")


def pytest_report_header() -> str:
    return f"hypothesis profile: {settings.get_current_profile_name()}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on Spark come first of all, as they take long.

    They are spread over all processes, each with a JVM: xdist 3.8 loses its groups with pytest 9.2.
    """
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
