"""Hashes, and bytes as text."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.schema import BIGINT, BINARY, INT, STRING

__all__ = ["HASHING"]

_BYTES = (Kind.BINARY,)
_TEXT = (Kind.TEXT,)
_CHARSET = "a text with other letters, or another name of a set of characters, is an error"
_CODED = "TRY_TO_BINARY returns NULL for such a text; or filter such rows out"

HASHING: tuple[ScalarFunction, ...] = (
    ScalarFunction(
        "md5", _BYTES, STRING, example="MD5('a')", value="0cc175b9c0f1b6a831c399e269772661"
    ),
    ScalarFunction(
        "sha1",
        _BYTES,
        STRING,
        also=("sha",),
        example="SHA1('a')",
        value="86f7e437faa5a7fce15d1ddcb9eaeaea377667b8",
    ),
    ScalarFunction(
        "sha2",
        (Kind.BINARY, Kind.INT),
        STRING,
        example="SUBSTRING(SHA2('a', 256), 1, 8)",
        value="ca978112",
    ),
    ScalarFunction("crc32", _BYTES, BIGINT, example="CRC32('a')", value="3904355907"),
    ScalarFunction("hash", (Kind.ANY,), INT, repeats=True, example="HASH('a')", value="1485273170"),
    ScalarFunction(
        "xxhash64",
        (Kind.ANY,),
        BIGINT,
        repeats=True,
        example="XXHASH64('a')",
        value="-8582455328737087284",
    ),
    ScalarFunction("hex", (Kind.INTEGER_OR_BYTES,), STRING, example="HEX(255)", value="FF"),
    ScalarFunction("unhex", _TEXT, BINARY, example="UNHEX('4c')", value="b'L'"),
    ScalarFunction("base64", _BYTES, STRING, example="BASE64('Lab')", value="TGFi"),
    ScalarFunction(
        "unbase64", _TEXT, BINARY, is_total=True, example="UNBASE64('TGFi')", value="b'Lab'"
    ),
    ScalarFunction("to_base32", _BYTES, STRING, example="TO_BASE32('Lab')", value="JRQWE==="),
    ScalarFunction(
        "encode",
        (Kind.TEXT, Kind.TEXT),
        BINARY,
        is_total=True,
        example="ENCODE('é', 'UTF-8')",
        value="b'\\xc3\\xa9'",
        remedy=_CHARSET,
    ),
    ScalarFunction(
        "decode",
        (Kind.BINARY, Kind.TEXT),
        STRING,
        repeats=True,
        is_total=True,
        example="DECODE(ENCODE(t, 'UTF-16'), 'UTF-16')",
        value="Lab 203",
        remedy=_CHARSET,
    ),
    ScalarFunction(
        "to_binary",
        (Kind.TEXT, Kind.TEXT),
        BINARY,
        optional=1,
        is_total=True,
        example="TO_BINARY('4c')",
        value="b'L'",
        remedy=_CODED,
    ),
    ScalarFunction(
        "try_to_binary",
        (Kind.TEXT, Kind.TEXT),
        BINARY,
        optional=1,
        example="TRY_TO_BINARY('x')",
        value="NULL",
    ),
)
