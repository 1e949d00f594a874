"""A job in this process for months: fed by its sources, read by its sinks, shown and watched."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping

from windrow.apps.console.embedded_runner import EmbeddedRunner
from windrow.apps.console.followed import ServedQuery
from windrow.apps.console.health import Health
from windrow.apps.console.registry import Registry
from windrow.apps.service.posted_rows import PostedRows
from windrow.apps.service.settings import ServiceSettings
from windrow.connectors.http.connector import HttpSource
from windrow.jobs.job import Job

__all__ = ["Service"]

_LOGGER = logging.getLogger("windrow.service")
