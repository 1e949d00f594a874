"""Functions that are written as text for a plan or a stream, and compiled once.

The only place that runs a text. It takes plain arithmetic, comparisons and loops over names that it
is given, and nothing else: no import, no attribute but a few methods, no name from elsewhere. So a
text that a user could have had a hand in does nothing but compute.
"""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["written"]

_NODES = (
    ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign,
    ast.Delete, ast.Expr, ast.If, ast.While, ast.For, ast.Continue, ast.Try, ast.ExceptHandler,
    ast.IfExp, ast.NamedExpr,
    ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.keyword, ast.Constant, ast.Name,
    ast.Subscript, ast.Tuple, ast.Dict, ast.Attribute, ast.expr_context, ast.boolop, ast.operator,
    ast.unaryop, ast.cmpop,
)  # fmt: skip
_METHODS = frozenset(
    [
        "add", "append", "clear", "counts", "first", "get", "is_integer", "isascii", "popleft",
        "remove", "rows", "tzinfo",
    ]
)  # fmt: skip
_BUILTINS = {
    "KeyError": KeyError, "bool": bool, "float": float, "int": int, "len": len, "str": str,
    "type": type,
}  # fmt: skip


def written(text: str, name: str, namespace: dict[str, Any]) -> Any:
    """The function of that name in a text; namespace: all that it may refer to.

    >>> written("def half(x): return x // two", "half", {"two": 2})(7)
    3
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise AssertionError(f"a written function has {ast.dump(node)}")
        if isinstance(node, ast.Attribute) and node.attr not in _METHODS:
            raise AssertionError(f"a written function reads .{node.attr}")
    names = {"__builtins__": _BUILTINS, **namespace}
    exec(compile(tree, "<written>", "exec"), names)
    return names[name]
