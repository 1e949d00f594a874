"""Hypothesis profiles: HYPOTHESIS_PROFILE names one (few, dev, ci, long); otherwise CI decides."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# Random on purpose: each run tries new streams, and a failure prints the blob that repeats it.
# No deadline: the first example of a kernel pays for its compilation. In CI the examples are the
# same in every run, so that a change is judged by itself; new ones are found by dev and long.
for _name, _examples in {"few": 5, "dev": 25, "ci": 25, "long": 5_000}.items():
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        derandomize=_name == "ci",
        database=None if _name == "ci" else settings.default.database,
        print_blob=True,
    )

settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)


def pytest_report_header() -> str:
    return f"hypothesis profile: {settings.get_current_profile_name()}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on Spark come first of all, as they take long.

    They are spread over all processes, each with a JVM: xdist 3.8 loses its groups with pytest 9.2.
    """
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
