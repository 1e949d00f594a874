"""Schemas of values by their numbers, asked of a schema registry over HTTP, each once.

The interface is that of Confluent's registry, which Karapace, Apicurio and Redpanda have too.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.parse
import urllib.request
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from windrow.connectors.live import TransientError
from windrow.errors import BindingError, DataError, Place

__all__ = ["MOST_SCHEMA_BYTES", "RegisteredSchema", "Registry"]

ANSWER_S = 10.0
# Of schemas that are held; the one that was needed longest ago goes first.
MOST_SCHEMA_BYTES = 16 << 20
_ACCEPTED = "application/vnd.schemaregistry.v1+json, application/json"
_GONE = 404
_TRY_AGAIN = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema, and those that it refers to, the deepest first; kind: AVRO, JSON or PROTOBUF."""

    number: int
    kind: str
    text: str
    references: tuple[tuple[str, str], ...] = ()  # names, and texts

    @property
    def nbytes(self) -> int:
        """About the bytes that it holds."""
        return len(self.text) + sum(len(text) for _, text in self.references)


class Registry:
    """A registry at an address, in which a name and a password may stand.

    >>> Registry("http://me:secret@localhost:8081").shown
    'http://localhost:8081'
    """

    def __init__(self, address: str, place: Place | None = None) -> None:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BindingError(
                "WB874",
                "the address of the schema registry cannot be read",
                hint="write http://host:8081 or https://user:password@host",
                place=place,
            )
        self._place = place
        host = parts.netloc.rpartition("@")[2]
        self.shown = urllib.parse.urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
        self._headers = {"Accept": _ACCEPTED}
        if parts.username is not None:
            name = urllib.parse.unquote(parts.username)
            password = urllib.parse.unquote(parts.password or "")
            secret = base64.b64encode(f"{name}:{password}".encode()).decode()
            self._headers["Authorization"] = f"Basic {secret}"
        self._held: OrderedDict[tuple[int, str], RegisteredSchema] = OrderedDict()
        self._bytes = 0

    def schema(self, number: int, form: str = "") -> RegisteredSchema:
        """The schema of that number; form: 'serialized' for Protobuf in base64."""
        known = self._held.get((number, form))
        if known is not None:
            self._held.move_to_end((number, form))
            return known
        found = self._asked(number, form)
        self._held[(number, form)] = found
        self._bytes += found.nbytes
        while self._bytes > MOST_SCHEMA_BYTES and len(self._held) > 1:
            self._bytes -= self._held.popitem(last=False)[1].nbytes
        return found

    def _asked(self, number: int, form: str) -> RegisteredSchema:
        query = f"?format={form}" if form else ""
        answer = self._answer(f"/schemas/ids/{number}{query}", f"schema {number}")
        references: dict[str, str] = {}
        self._refer(answer, query, references)
        kind = str(answer.get("schemaType") or "AVRO")
        return RegisteredSchema(number, kind, str(answer["schema"]), tuple(references.items()))

    def _refer(self, answer: dict[str, Any], query: str, found: dict[str, str]) -> None:
        """Adds what a schema refers to, and before it what that refers to."""
        for each in answer.get("references") or ():
            name, subject = str(each["name"]), str(each["subject"])
            if name in found:
                continue
            path = f"/subjects/{urllib.parse.quote(subject, '')}/versions/{each['version']}{query}"
            one = self._answer(path, f"version {each['version']} of {subject!r}")
            self._refer(one, query, found)
            found[name] = str(one["schema"])

    def _answer(self, path: str, what: str) -> dict[str, Any]:
        asked = urllib.request.Request(self.shown + path, headers=self._headers)
        try:
            with urllib.request.urlopen(asked, timeout=ANSWER_S) as answer:
                given = json.load(answer)
        except urllib.error.HTTPError as problem:
            with problem:  # it holds the connection
                raise self._failed(problem, what) from None
        except OSError as problem:
            reason = getattr(problem, "reason", problem)
            raise TransientError(f"the schema registry {self.shown}: {reason}") from None
        except ValueError:
            given = None
        if not isinstance(given, dict) or "schema" not in given:
            raise self._refused(what, "what it answers is no schema")
        return given

    def _failed(self, problem: urllib.error.HTTPError, what: str) -> Exception:
        if problem.code in _TRY_AGAIN:
            return TransientError(f"the schema registry {self.shown}: {problem}")
        if problem.code == _GONE:
            return self._refused(what, "it has none of that number")
        return self._refused(what, f"it answers {problem.code} {problem.reason}")

    def _refused(self, what: str, why: str) -> DataError:
        return DataError(
            "WD874",
            f"{what} cannot be had from the schema registry {self.shown}: {why}",
            hint="check registry=, the rights of its user, and that the values were written with "
            "this registry",
            place=self._place,
        )
