"""Functions made of method handles of the JVM: it walks over rows without Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

__all__ = ["Java"]


class Java:
    """Classes, objects, arrays and method handles of the JVM."""

    def __init__(self, spark: SparkSession) -> None:
        self._gateway: Any = spark.sparkContext._gateway
        self._jvm: Any = spark._jvm
        self.handles = self.name("java.lang.invoke.MethodHandles")
        self.lookup = self.handles.publicLookup()
        self._loader = self.name("java.lang.Thread").currentThread().getContextClassLoader()

    def name(self, path: str) -> Any:
        """What stands in Java under that name, to be called."""
        found = self._jvm
        for part in path.split("."):
            found = getattr(found, part)
        return found

    def new(self, path: str, *arguments: Any) -> Any:
        """A new object of the class of that name."""
        return self.name(path)(*arguments)

    def type(self, name: str) -> Any:
        """The class itself, as a value."""
        return self.name("java.lang.Class").forName(name, True, self._loader)

    def array(self, kind: str, *items: Any) -> Any:
        """An array of the class of that name."""
        array = self._gateway.new_array(self.name(kind), len(items))
        for index, item in enumerate(items):
            array[index] = item
        return array

    def map(self, values: Mapping[str, str]) -> Any:
        """A java.util.Map of texts."""
        made = self.new("java.util.HashMap")
        for name, value in values.items():
            made.put(name, value)
        return made

    def method(self, result: Any, *arguments: Any) -> Any:
        """The type of a method."""
        taken = self.array("java.lang.Class", *arguments)
        return self.name("java.lang.invoke.MethodType").methodType(result, taken)

    def filled(self, handle: Any, *first: Any) -> Any:
        """A handle whose first arguments are fixed."""
        return self.handles.insertArguments(handle, 0, self.array("java.lang.Object", *first))

    def of_row(self, handle: Any, row: Any, *parts: Any) -> Any:
        """A handle that takes a row, and calls another with what the parts make of that row."""
        filters = self.array("java.lang.invoke.MethodHandle", *parts)
        several = self.handles.filterArguments(handle, 0, filters)
        same = self._gateway.new_array(self._jvm.int, len(parts))
        kind = self.method(several.type().returnType(), row)
        return self.handles.permuteArguments(several, kind, same)
