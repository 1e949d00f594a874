"""The address of a server of PostgreSQL, and what its client says, without passwords."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import conninfo

from windrow.errors import BindingError, Place

__all__ = ["address_of", "said_without_password"]

CONNECT_TIMEOUT_S = 10


def address_of(url: str, place: Place | None = None) -> dict[str, Any]:
    """What to connect to; an address that cannot be read is not repeated, for it holds secrets."""
    try:
        words = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise BindingError(
            "WB448",
            "the address of the PostgreSQL server cannot be read",
            hint="write postgresql://user@host:port/database, or 'host=... dbname=... user=...'",
            place=place,
        ) from None
    given = {name: value for name, value in words.items() if value is not None}
    # No statement is prepared: a pooler between may give each transaction another connection.
    defaults = {"connect_timeout": CONNECT_TIMEOUT_S, "application_name": "windrow"}
    return {**defaults, **given, "client_encoding": "utf8", "prepare_threshold": None}


def said_without_password(problem: psycopg.Error, address: dict[str, Any]) -> str:
    """The first line of what went wrong."""
    said = problem.diag.message_primary or str(problem).partition("\n")[0]
    password = str(address.get("password") or "")
    return said.replace(password, "***") if password else said
