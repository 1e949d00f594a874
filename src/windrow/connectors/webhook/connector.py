"""An address that batches are posted to: as JSON, or as a message to Slack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, cast
from urllib.parse import urlsplit

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.feeds import FEEDS, check_feed
from windrow.connectors.loading import loaded
from windrow.connectors.process_run import ProcessRun
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, Place
from windrow.event_time import span_of

if TYPE_CHECKING:
    from windrow.connectors.options import Options
    from windrow.plan.model import QueryPlan

__all__ = ["HEADER_PREFIX", "SINKS", "Webhook"]

HEADER_PREFIX = "header."
TIMEOUT_S = 10.0
RETRIES = 8
FORMS = ("json", "slack")


@dataclass(frozen=True)
class Webhook(Sink):
    """Batches posted by HTTP; each arrives at least once, with a key by which it is known.

    The address and what is in headers may be secrets: they are shown nowhere.

    >>> Webhook("https://ops.example/hooks/secret")
    Webhook(feed='answers', form='json', timeout_s=10.0, retries=8)
    """

    in_process: ClassVar[bool] = True
    takes_questions: ClassVar[bool] = True
    replay: ClassVar[Replay] = "repeated"

    url: str = field(repr=False)
    feed: str = "answers"
    form: str = "json"
    timeout_s: float = TIMEOUT_S
    retries: int = RETRIES
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_feed(self.feed)
        if self.form not in FORMS:
            raise self._wrong("WB843", f"there is no form {self.form!r}", "use 'json' or 'slack'")
        if not 0 < self.timeout_s <= 3_600 or self.retries < 0:
            told = f"timeout {self.timeout_s} s and {self.retries} retries are not possible"
            raise self._wrong(
                "WB842", told, "give a time-out of up to an hour, and 0 or more retries"
            )
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            told = "the address of a webhook is not one of HTTP"
            raise self._wrong("WB841", told, "write webhook('https://host/path'), or env('NAME')")
        for name, value in self.headers.items():
            if any(letter in f"{name}{value}" for letter in "\r\n"):
                told = f"header {name!r} has a line end"
                raise self._wrong("WB841", told, "give each header one line")

    def _wrong(self, code: str, message: str, hint: str) -> BindingError:
        return BindingError(code, message, hint=hint, place=self.place)

    @property
    def shown(self) -> str:
        """The host alone."""
        return urlsplit(self.url).hostname or ""

    def open_in_process(self, run: ProcessRun) -> Writer:
        """A writer that posts from a queue; where a state is kept, one batch after the other."""
        return self._writer(run)

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """The same, on the driver: a batch is posted before it counts as written."""
        return self._writer(checkpoint)

    def _writer(self, checkpoint: SinkCheckpoint) -> Writer:
        return cast("Writer", loaded("webhook.writer").WebhookWriter(self, checkpoint))


def _described(options: Options, form: str) -> Webhook:
    headers = options.beginning(HEADER_PREFIX)
    retries = options.count("retries")
    return Webhook(
        options.text("url"),
        options.one_of("feed", FEEDS),
        form,
        span_of(options.text("timeout", f"{TIMEOUT_S} seconds")) / 1e6,
        RETRIES if retries is None else retries,
        {name.removeprefix(HEADER_PREFIX): value for name, value in headers.items()},
        options.place,
    )


_OPTIONS = ("url", "feed", "timeout", "retries", "header.*")

SINKS = {
    "webhook": Scripted(_OPTIONS, lambda options: _described(options, "json")),
    "slack": Scripted(_OPTIONS, lambda options: _described(options, "slack")),
}
