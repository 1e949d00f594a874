"""Cases of hashes, of bytes as text, and of URLs."""

from __future__ import annotations

_PARTS = ("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO", "host")

CODES: tuple[str, ...] = (
    *("md5(t)", "sha(t)", "sha1(t)", "sha2(t, 256)", "sha2(t, 0)", "sha2(t, 512)", "sha2(t, m)"),
    *("sha2(t, 224)", "sha2(t, 384)", "crc32(t)", "hash(t)", "hash(i)", "hash(k)", "hash(x)"),
    *("hash(f)", "hash(p)", "hash(b)", "hash(t, i, x)", "hash(day)", "hash(ts)", "xxhash64(t)"),
    *(
        "xxhash64(i)",
        "xxhash64(k)",
        "xxhash64(x)",
        "xxhash64(t, u, w, b)",
        "xxhash64(l)",
        "hash(l)",
    ),
    *("xxhash64(f)", "xxhash64(q)", "xxhash64(day)", "xxhash64(ts)"),
    *("hex(i)", "hex(k)", "hex(t)", "unhex(c)", "unhex(w)", "base64(t)", "unbase64(c)"),
    *("to_base32(t)", "encode(t, 'UTF-8')", "encode(t, 'utf-16')"),
    *("encode(t, 'US-ASCII')", "encode(t, 'ISO-8859-1')", "encode(t, 'UTF-16LE')", "encode(t, u)"),
    *("encode(t, 'UTF-32')", "decode(t, 'UTF-8')", "decode(unhex(c), 'UTF-8')", "hex(unhex(c))"),
    *("decode(encode(t, 'UTF-16'), 'UTF-16')", "decode(t, 'ISO-8859-1')", "decode(t, 'US-ASCII')"),
    *("to_binary(c)", "to_binary(c, 'base64')", "to_binary(t, 'utf-8')", "try_to_binary(c)"),
    *("try_to_binary(c, 'base64')", "base64(unhex(c))", "length(unhex(c))", "md5(unhex(c))"),
    *(f"parse_url(l, '{part}')" for part in _PARTS),
    *("parse_url(l, 'QUERY', 'k')", "parse_url(l, 'QUERY', 'query')", "parse_url(l, 'HOST', 'k')"),
    *("try_parse_url(l, 'HOST')", "try_parse_url(l, 'QUERY', 'a')", "try_parse_url(c, 'PATH')"),
    *("url_encode(t)", "url_encode(l)", "url_decode(c)", "try_url_decode(c)", "url_decode(l)"),
)
