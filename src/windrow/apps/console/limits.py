"""Every limit of the console, by name: what a client may send, what is kept, what is sent."""

from __future__ import annotations

__all__ = [
    "ANSWER_ROWS_LIMIT",
    "BODY_BYTES_LIMIT",
    "CONNECTIONS_LIMIT",
    "DRAINED_ROWS",
    "FEED_BYTES_KEPT",
    "FEED_ROWS_KEPT",
    "KEPT_TIMEOUT_S",
    "LIVE_CLIENTS_LIMIT",
    "LIVE_ROWS",
    "MESSAGE_BYTES_LIMIT",
    "NAME_CHARACTERS_LIMIT",
    "POINTS_LIMIT",
    "QUERIES_LIMIT",
    "QUERY_CHARACTERS_LIMIT",
    "REQUEST_TIMEOUT_S",
    "RESULT_ROWS_LIMIT",
    "ROWS_BYTES_LIMIT",
    "SEND_TIMEOUT_S",
    "SESSIONS_LIMIT",
    "SESSION_S",
    "STRANGERS_LIMIT",
    "TREE_NODES_LIMIT",
    "URL_BYTES_LIMIT",
]

# ---- what a client may send
BODY_BYTES_LIMIT = 256 * 1024
ROWS_BYTES_LIMIT = 16 << 20  # of rows for a stream, in one request
URL_BYTES_LIMIT = 8 * 1024
MESSAGE_BYTES_LIMIT = 16 * 1024  # of a WebSocket, from the client
QUERY_CHARACTERS_LIMIT = 50_000
NAME_CHARACTERS_LIMIT = 100
REQUEST_TIMEOUT_S = 10.0  # from its first byte to its last, and before the first one

# ---- how long a client waits
KEPT_TIMEOUT_S = 30.0  # until rows that it sent are kept; afterwards it sends them again

# ---- how many there may be
CONNECTIONS_LIMIT = 128
STRANGERS_LIMIT = 32  # of these, connections from which no request was let through
SESSIONS_LIMIT = 64  # browsers that hold a cookie
SESSION_S = 12 * 3600.0  # a browser that was not seen for so long has to be let in again
LIVE_CLIENTS_LIMIT = 32  # WebSockets and event streams together
QUERIES_LIMIT = 200  # of all that a console has seen, ended ones too

# ---- what is kept for clients, of each feed of each query
FEED_ROWS_KEPT = 200_000
FEED_BYTES_KEPT = 32 << 20
DRAINED_ROWS = 50_000  # changes that are read off at a time

# ---- what is sent
ANSWER_ROWS_LIMIT = 200_000  # rows of a feed in one response
RESULT_ROWS_LIMIT = 100_000  # rows of a result in one response; Arrow IPC has all of them
LIVE_ROWS = 5_000  # rows of a feed in one message
POINTS_LIMIT = 20_000  # of a series of a history
TREE_NODES_LIMIT = 20_000
# Nothing is queued for a client: the next message is made when the last one is sent. One that does
# not take a message within this time is dropped.
SEND_TIMEOUT_S = 10.0
