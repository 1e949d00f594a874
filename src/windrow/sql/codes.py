"""Every code that this package raises, with its meaning; a test holds the list against the code.

WS1.. is text that is not WQL, WU1.. is SQL that WQL does not run. WB102, WB110 and WB111 of
`event_time` and `schema` pass through here and get their place.
"""

from __future__ import annotations

__all__ = ["CODES"]

CODES = {
    # limits and characters
    "WS100": "the query is not text",
    "WS101": "the text is longer than 64 KB",
    "WS102": "a character that cannot be stored (NUL, lone surrogate)",
    "WS103": "too many words and signs",
    "WS104": "nested too deeply",
    "WS105": "a chain of too many operators",
    "WS106": "a string, comment or quoted name never ends",
    "WS107": "a character that has no meaning",
    "WS108": "a number with too many characters",
    "WS109": "a name with too many characters",
    # words and values
    "WS110": "something else was expected",
    "WS111": "not a number",
    "WS112": "an empty name",
    "WS113": "a reserved word where a name is expected",
    "WS114": "comparisons in a chain",
    "WS115": "NOT behind an operator",
    "WS116": "a value was expected",
    "WS117": "a reserved word where a value is expected",
    "WS118": "a number and a word without space between",
    "WS119": "alias.* inside an expression",
    # windows and lengths of time
    "WS120": "not a unit of time",
    "WS121": "not a whole number of microseconds",
    "WS122": "a length of time that is zero",
    "WS123": "a length of time that is negative",
    "WS124": "a length of time longer than all of time",
    "WS125": "not a possible number of rows",
    "WS126": "an instant that no event can have",
    "WS127": "SLIDE does not divide RANGE",
    "WS128": "a function called with the wrong arguments",
    "WS129": "a window behind the alias",
    # service clauses and history
    "WS130": "ERROR outside 0 to 100 %",
    "WS131": "EVERY finer than SLIDE",
    "WS132": "DURATION ends before it begins",
    "WS133": "a service clause written twice",
    "WS134": "DURATION not in whole seconds",
    "WS135": "HISTORY without its interval",
    "WS136": "HISTORY's interval ends before it begins",
    # parts of a query
    "WS140": "NOT EXISTS inside brackets, OR or ON",
    "WS141": "an empty select list",
    "WS142": "NOT EXISTS as one side of OR",
    "WS143": "a misspelt clause",
    "WS144": "something behind the end of a statement",
    "WS145": "LEFT ANTI JOIN without ON",
    # definitions
    "WS150": "a value without a name behind a named one",
    "WS151": "an option given twice",
    "WS152": "an option's number is too large",
    "WS153": "a level kept for less than its grain",
    "WS154": "NUL as an escape in a text",
    # whole texts
    "WS160": "a statement where a query is expected",
    "WS161": "several statements where one is expected",
    "WS162": "the caller's stack leaves no room to read the text",
    "WS163": "no statement at all",
    # SQL that WQL does not run
    "WU101": "ORDER BY and its kin",
    "WU102": "LIMIT, OFFSET, FETCH",
    "WU103": "UNION, EXCEPT, INTERSECT",
    "WU104": "window functions",
    "WU105": "IN (SELECT ...)",
    "WU106": "INTERVAL values",
    "WU107": "EXISTS (SELECT ...)",
    "WU108": "parts of a column's value",
    "WU109": "FILTER and WITHIN GROUP",
    "WU110": "a query as a value",
    "WU111": "NOT EXISTS within NOT EXISTS",
    "WU112": "ROLLUP, CUBE, GROUPING SETS",
    "WU113": "WITH",
    "WU114": "QUALIFY, WINDOW, TABLESAMPLE, PIVOT",
    "WU115": "joins other than JOIN and LEFT ANTI JOIN",
    "WU116": "USING",
    "WU117": "a query in FROM",
}
