"""Batches as the bodies of requests: objects of JSON, or texts for Slack."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa

from windrow.rows.json_texts import json_texts

__all__ = ["ROWS_AT_ONCE", "bodies_of"]

# So many rows are in one request.
ROWS_AT_ONCE = 500


def bodies_of(form: str, query: str, batch_id: int, rows: pa.Table) -> Iterator[bytes]:
    """The bodies of a batch, in the order in which they are posted.

    >>> next(bodies_of("json", "hot", 7, pa.table({"room": ["lab"]})))
    b'{"query": "hot", "batch": 7, "rows": [{"room": "lab"}]}'
    """
    for start in range(0, rows.num_rows, ROWS_AT_ONCE):
        part = rows.slice(start, ROWS_AT_ONCE)
        if form == "slack":
            yield json.dumps({"text": "\n".join(_lines(query, part))}).encode()
        else:
            texts = ", ".join(str(text) for text in json_texts(part.to_struct_array()))
            head = f'"query": {json.dumps(query)}, "batch": {batch_id}'
            yield f'{{{head}, "rows": [{texts}]}}'.encode()


def _lines(query: str, rows: pa.Table) -> Iterator[str]:
    """`hot raised: room=lab, top=41.0 (since ...)`, or the columns alone where it is no alert."""
    for text in json_texts(rows.to_struct_array()):
        row = json.loads(text or "{}")
        at, state, since = row.pop("at", ""), row.pop("state", ""), row.pop("since", "")
        name = row.pop("alert", query)
        told = ", ".join(f"{column}={_shown(value)}" for column, value in row.items())
        when = f" at {at}" if at else ""
        first = f"*{_plain(name)}*{state and ' ' + state}{when}: {told}"
        yield f"{first} (since {since})" if since else first


def _shown(value: object) -> str:
    return _plain(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _plain(text: object) -> str:
    """Without what Slack takes for a command, such as <!channel>."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
