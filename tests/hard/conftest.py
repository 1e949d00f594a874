"""WINDROW_HARD=few (as in CI) takes a sample of the places and sizes; all takes every one.

A number takes so many places of each operation.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def is_whole() -> bool:
    """Whether every place is tried, and not only some."""
    return os.environ.get("WINDROW_HARD", "few") == "all"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.hard)
