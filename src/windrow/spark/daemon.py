"""The process that forks Spark's Python workers, with everything loaded that they need.

A worker that is forked from it starts without importing anything, and shares that memory.
"""

from __future__ import annotations

import gc

from pyspark.daemon import manager

import windrow.spark.operator
import windrow.spark.packer  # noqa: F401 - loaded for the workers

if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    manager()
