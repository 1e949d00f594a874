"""Serves a job until a signal, or what it cannot go on from, ends it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from windrow.apps.console.app import Service as Offered
from windrow.apps.console.server import Address, ConsoleServer
from windrow.apps.console.token import Secrets
from windrow.apps.service.log_lines import logging_to
from windrow.apps.service.service import Service
from windrow.apps.service.settings import ServiceSettings
from windrow.interruption import Interruption
from windrow.jobs.job import Job

__all__ = ["serve"]

_LOGGER = logging.getLogger("windrow.service")


def serve(
    job: Job, settings: ServiceSettings, when_ready: Callable[[Mapping[str, object]], None]
) -> None:
    """Returns, or raises what has ended it, when all is closed."""
    names = settings.allow_hosts
    address = Address(settings.host, settings.port, settings.allow_remote, names)
    address.check()
    secrets = Secrets(settings.token)
    hidden = () if settings.token is None else (settings.token,)
    # The server raises the signal that ended it once more: noted, it lets all be closed.
    with logging_to(settings.log_level, settings.log_format, hidden), Interruption():
        service = Service(job, settings)
        try:
            offered = Offered(service, service.intakes)
            server = ConsoleServer(service.registry, address, secrets=secrets, service=offered)
            service.start(when_over=server.stop)
            server.run(lambda: _announce(server, settings, when_ready))
        finally:
            service.close()
        service.raise_failure()


def _announce(
    server: ConsoleServer,
    settings: ServiceSettings,
    when_ready: Callable[[Mapping[str, object]], None],
) -> None:
    facts: dict[str, object] = {"url": server.url}
    if settings.token is None:  # one was made up, and nobody else could know it
        facts["open"] = server.url_with_token
    when_ready(facts)
    _LOGGER.info("serving %s at %s", settings.script.name, server.url)
