"""The Spark session of the tests on Spark, for connectors that are read or written there."""

from __future__ import annotations

from spark.conftest import files, sessions, spark

__all__ = ["files", "sessions", "spark"]
