"""Digests of bytes, and bytes as text: hexadecimal, base 64, sets of characters."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from typing import Any

from windrow.rows.scalar.values import Function, NoValueError, per_value

__all__ = ["CODES"]

_SHA2 = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}
_CHARSETS = {
    "UTF-8": "utf-8",
    "US-ASCII": "ascii",
    "ISO-8859-1": "latin-1",
    "UTF-16": "utf-16",
    "UTF-16BE": "utf-16-be",
    "UTF-16LE": "utf-16-le",
    "UTF-32": "utf-32-be",
}
_BASE64 = re.compile(r"[^A-Za-z0-9+/]")


def bytes_of(value: str | bytes) -> bytes:
    """Text is its UTF-8 bytes."""
    return value.encode("utf-8") if isinstance(value, str) else value


def _digest(name: str, value: str | bytes) -> str:
    return hashlib.new(name, bytes_of(value), usedforsecurity=False).hexdigest()


def _sha2(value: str | bytes, bits: int) -> str | None:
    name = _SHA2.get(bits)
    return None if name is None else _digest(name, value)


def _hexadecimal(value: int | str | bytes) -> str:
    if isinstance(value, int):
        return format(value % 2**64, "X")
    return bytes_of(value).hex().upper()


def _from_hexadecimal(text: str) -> bytes | None:
    padded = text if len(text) % 2 == 0 else f"0{text}"
    if not padded.isascii() or (not padded.isalnum() and padded):
        return None
    try:
        return bytes.fromhex(padded)
    except ValueError:
        return None


def _from_base64(text: str) -> bytes | None:
    """As Java's MIME decoder reads it: letters of no meaning are left out."""
    letters, _, padding = text.partition("=")
    kept = _BASE64.sub("", letters)
    if padding and set(_BASE64.sub("", padding)):
        return None
    if len(kept) % 4 == 1:
        return None
    if "=" in text and len(kept) % 4 == 0:
        return None
    if "=" in text and len(kept) % 4 == 2 and padding.count("=") < 1:
        return None
    try:
        return base64.b64decode(kept + "=" * (-len(kept) % 4))
    except binascii.Error:
        return None


def _from_strict_base64(text: str) -> bytes | None:
    """With white space only between letters, and all or none of the padding."""
    letters = re.sub(r"[ \t\r\n]", "", text)
    if not re.fullmatch(r"[A-Za-z0-9+/]*={0,2}", letters) or len(letters.rstrip("=")) % 4 == 1:
        return None
    if letters.endswith("=") and len(letters) % 4:
        return None
    return base64.b64decode(letters + "=" * (-len(letters) % 4))


def _encoded(text: str, charset: str) -> bytes | None:
    name = _CHARSETS.get(charset.upper())
    if name is None:
        return None
    try:
        if name == "utf-16":
            # Java writes the mark of byte order, then the high byte first; nothing for nothing.
            return b"\xfe\xff" + text.encode("utf-16-be") if text else b""
        return text.encode(name)
    except UnicodeEncodeError:
        return None


def _decoded(value: str | bytes, charset: str) -> str | None:
    name = _CHARSETS.get(charset.upper())
    if name is None:
        return None
    given = bytes_of(value)
    if name == "utf-16" and given[:2] not in (b"\xfe\xff", b"\xff\xfe"):
        name = "utf-16-be"
    try:
        return given.decode(name)
    except UnicodeDecodeError:
        return None


def _as_bytes(text: str, form: str = "hex") -> bytes | None:
    known: dict[str, Any] = {
        "hex": _from_hexadecimal,
        "base64": _from_strict_base64,
        "utf-8": bytes_of,
        "utf8": bytes_of,
    }
    read = known.get(form.lower())
    if read is None:
        raise NoValueError
    found: bytes | None = read(text)
    return found


CODES: dict[str, Function] = {
    "md5": per_value(lambda value: hashlib.md5(bytes_of(value), usedforsecurity=False).hexdigest()),
    "sha1": per_value(
        lambda value: hashlib.sha1(bytes_of(value), usedforsecurity=False).hexdigest()
    ),
    "sha2": per_value(_sha2),
    "crc32": per_value(lambda value: zlib.crc32(bytes_of(value))),
    "hex": per_value(_hexadecimal),
    "unhex": per_value(_from_hexadecimal),
    "base64": per_value(lambda value: base64.b64encode(bytes_of(value)).decode("ascii")),
    "unbase64": per_value(_from_base64),
    "to_base32": per_value(lambda value: base64.b32encode(bytes_of(value)).decode("ascii")),
    "encode": per_value(_encoded),
    "decode": per_value(_decoded),
    "to_binary": per_value(_as_bytes),
    "try_to_binary": per_value(_as_bytes),
}
