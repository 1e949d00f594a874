"""The table of arguments that all functions are called with, in Spark and here.

A column has a list of values, spread over the rows in an order of its own, so that calls of several
columns meet many pairs. Times are microseconds, dates are days, bytes are hexadecimal text.
"""

from __future__ import annotations

import random
from decimal import Decimal

ROWS = 44
NAN, INF = float("nan"), float("inf")
MIN, MAX = -(2**63), 2**63 - 1
DAY_US = 86_400_000_000

COLUMNS: dict[str, tuple[str, list[object]]] = {
    "b": ("boolean", [True, False, None]),
    "i": (
        "int",
        [None, 0, 1, -1, 2, 3, -7, 10, 31, 33, 64, 97, 255, 1000, 123456, 2**31 - 1, -(2**31)],
    ),
    "m": ("int", [None, 0, 1, 2, 3, 4, 5, 7, -1, -2, -3, 12]),
    "k": (
        "bigint",
        [None, 0, 1, -1, 2, -2, 7, 10, 15, -255, 4096, 2**31, -(2**40) - 3, 10**15, MAX, MIN],
    ),
    "j": ("bigint", [None, 0, 1, -1, 3, -3, 7, 100, 2**33 + 1, MAX, MIN]),
    "x": (
        "double",
        [
            None,
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -0.5,
            1.5,
            2.5,
            -2.5,
            2.675,
            0.1,
            3.7,
            -1e-07,
            100.0,
            1000000000000000.0,
            12345678.9,
            1e300,
            5e-324,
            NAN,
            INF,
            -INF,
            709.9,
            -745.2,
            1e22,
        ],
    ),
    "y": ("double", [None, 0.0, -0.0, 1.0, 2.0, -3.0, 0.25, 10.0, 1e10, NAN, INF, -INF, 0.7]),
    "f": ("float", [None, 0.0, 1.5, -2.25, 0.1, NAN, INF, 16777216.0]),
    "p": (
        "decimal(10, 2)",
        [
            None,
            *map(Decimal, ("0", "1", "-1", "0.5", "2.50", "-2.55", "12.34", "99999999.99")),
            Decimal("-0.01"),
            Decimal("1000"),
        ],
    ),
    "q": (
        "decimal(18, 4)",
        [
            None,
            *map(Decimal, ("0", "0.0001", "-3.1416", "2.5000", "12345.6789")),
            Decimal("99999999999999.9999"),
        ],
    ),
    "t": (
        "string",
        [
            None,
            "",
            " ",
            "a",
            "Abc",
            "hello world",
            "HELLO",
            "  pad  ",
            "naïve café",
            "straße",
            "日本語",
            "😀 smile 👍🏽",
            "a,b,,c",
            "tab\tnew\nline",
            'o\'brien \\ "q"',
            "İstanbul",
            "Σίσυφος",
            "aaaa",
            "x-y_z",
            "12",
            "foobarfoo",
            "e\u0301clair",
            "100%",
            "one two  three",
            "ǆ ŉ",
        ],
    ),
    "u": (
        "string",
        [
            None,
            "",
            "a",
            "b",
            "o",
            " ",
            "lo",
            "foo",
            "é",
            "語",
            "😀",
            ",",
            "aa",
            "A",
            "x-",
            "%",
            "ll",
        ],
    ),
    "w": (
        "string",
        [
            None,
            "",
            "0",
            "7",
            "-12",
            " 42 ",
            "+5",
            "3.14",
            "1e3",
            "ff",
            "FF",
            "zz",
            "12abc",
            "-0.5",
            "9223372036854775808",
            "18446744073709551616",
            "99999999999999999999999",
            "1,234.50",
            "$1,234.50",
            "<12>",
            "4111111111111111",
            "79927398713",
            "-ff",
            "0x1F",
            "é",
        ],
    ),
    "c": (
        "string",
        [
            None,
            "",
            "YQ==",
            "aGVsbG8=",
            "8J+YgA==",
            "YQ",
            "68656C6C6F",
            "6",
            "zz",
            "4A4b",
            "a b",
            "%41",
            "a%20b+c",
            "%zz",
            "%E6%97%A5",
            "%",
            "YW Jj",
            "////",
            "Y!Q=",
        ],
    ),
    "l": (
        "string",
        [
            None,
            "",
            "http://user:pw@example.com:8080/p/a/t/h;x?query=1&k=v%20w&k=z#Ref",
            "no url",
            "https://spark.apache.org/path?query=1",
            "ftp://h/é?a=b",
            "http://[::1]:80/x?y",
            "mailto:a@b.c",
            "http://h?k",
            "http://a b/c",
            "//host/path",
            "file:///etc/passwd?x=#f",
            "http://u@h:1/?a=1&b=",
        ],
    ),
    "js": (
        "string",
        [
            None,
            "",
            "{}",
            "[]",
            '{"a": 1, "b": {"c": "x y", "d": [1, 2.50, null, true]}}',
            '{"a": "text", "b": [{"c": 1}, {"c": 2}], "a": 2}',
            '[{"a": 1}, {"a": [3, [4]]}, {"b": null}]',
            '{"a": null, "b": 1e3}',
            "{'a': 'single', 'it': 1}",
            '{"a": 1',
            '{"a": 1} trailing',
            "not json",
            "null",
            "12",
            '"text"',
            '[1, "two", [3, 4], {"a": 5}]',
            '{"a.b": 1, "a b": "é \\u00e9 \\n \\" 😀", "a": {"*": 9}}',
            '{"a": "2024-02-29", "b": "2024-02-29T12:30:00.5+01:00"}',
            '{"a": 12345678901234567890, "b": 0.00001, "c": 123456789.5}',
            '{"a": "7", "b": 3.9, "c": [1, 2]}',
        ],
    ),
    "day": (
        "date",
        [
            None,
            0,
            -1,
            1,
            59,
            10957,
            11016,
            18321,
            19782,
            20454,
            -141428,
            -719162,
            2932896,
            20088,
            16801,
        ],
    ),
    "ts": (
        "timestamp",
        [
            None,
            0,
            -1,
            1,
            1767259800000000,
            951782399999999,
            951868800000000,
            1711846800000000,
            1711850399999999,
            1729994400000000,
            -2208988800000000,
            253402300799999999,
            -62135596800000000,
            1709164800123456,
        ],
    ),
}


def arguments() -> dict[str, list[object]]:
    """The values of every column, ROWS of each; the same in every run."""
    return {name: _spread(name, values) for name, (_, values) in COLUMNS.items()}


def _spread(name: str, values: list[object]) -> list[object]:
    order = random.Random(name)
    found: list[object] = []
    while len(found) < ROWS:
        found += order.sample(values, len(values))
    return found[:ROWS]


def declared() -> str:
    """The columns as DDL."""
    return ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
