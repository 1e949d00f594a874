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
    """Returns when a signal has ended it and all is closed; raises what else has ended it."""
    address = Address(settings.host, settings.port, settings.allow_remote, settings.allow_hosts)
    address.check()
    secrets = Secrets(settings.token)
    hidden = () if settings.token is None else (settings.token,)
    is_closed = False
    try:
        # The server raises the signal that ended it once more: noted, it lets all be closed.
        with logging_to(settings.log_level, settings.log_format, hidden), Interruption() as ending:
            service = Service(job, settings)
            try:
                offered = Offered(service, service.inboxes)
                server = ConsoleServer(service.registry, address, secrets=secrets, service=offered)

                def announce() -> None:
                    if ending.came:  # before the server could hear it
                        server.stop()
                    when_ready(_facts(server, settings))

                service.start(when_over=server.stop)
                server.run(announce)
            finally:
                service.close()
            service.raise_failure()
            is_closed = True
    except (KeyboardInterrupt, SystemExit):
        if not is_closed:
            raise


def _facts(server: ConsoleServer, settings: ServiceSettings) -> dict[str, object]:
    _LOGGER.info("serving %s at %s", settings.script.name, server.url)
    facts: dict[str, object] = {"url": server.url}
    if settings.token is None:  # one was made up, and nobody else could know it
        facts["open"] = server.url_with_token
    return facts
