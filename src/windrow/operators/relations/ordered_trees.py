"""Memory for the trees of ordered_kernels: empty ones, and the same with room for more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.operators.relations.order_words import Matrix
from windrow.operators.relations.ordered_kernels import (
    EMPTY,
    FIRST_WORD,
    HEAD_COLUMNS,
    LINK_COLUMNS,
    OrderedTree,
)

__all__ = ["empty_tree", "grown_tree", "longer", "tree_bytes"]

_SMALLEST = 64
_LINE_BYTES = 64


def empty_tree(width: int, *, with_sizes: bool) -> OrderedTree:
    """A tree of rows of so many words. with_sizes: for rank_of() and row_at()."""
    words: Matrix = np.empty((_SMALLEST, width), np.int64)
    links = _room_for_links(_SMALLEST)
    return OrderedTree(
        links=links,
        first=_first_words(links),
        heads=np.full((_SMALLEST, HEAD_COLUMNS), EMPTY, np.int32),
        words=words,
        counts=np.zeros(_SMALLEST, np.int64),
        sizes=np.zeros(_SMALLEST if with_sizes else 0, np.int64),
    )


def grown_tree(tree: OrderedTree, rows: int, partitions: int) -> OrderedTree:
    """The same with room for so many rows and partitions, if it has less."""
    if rows > tree.counts.size:
        links = _room_for_links(rows)
        links[: tree.counts.size] = tree.links
        tree = tree._replace(
            links=links,
            first=_first_words(links),
            words=longer(tree.words, rows),
            counts=longer(tree.counts, rows),
            sizes=longer(tree.sizes, rows) if tree.sizes.size else tree.sizes,
        )
    if partitions > tree.heads.shape[0]:
        heads = np.full((partitions, HEAD_COLUMNS), EMPTY, np.int32)
        heads[: tree.heads.shape[0]] = tree.heads
        tree = tree._replace(heads=heads)
    return tree


def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array with zeros behind it."""
    out = np.zeros((size, *array.shape[1:]), array.dtype)
    out[: array.shape[0]] = array
    return out


def tree_bytes(tree: OrderedTree) -> int:
    """Bytes held; the first words are in the memory of the links."""
    return sum(int(each.nbytes) for each in tree if each is not tree.first)


def _room_for_links(size: int) -> NDArray[np.int32]:
    # Links are written when a row is put in: to fill them here would cost as much as the tree.
    # They begin at a line of the cache, so that none is spread over two.
    row_bytes = LINK_COLUMNS * 4
    memory = np.empty(size * row_bytes + _LINE_BYTES, np.uint8)
    begin = -memory.ctypes.data % _LINE_BYTES
    return memory[begin : begin + size * row_bytes].view(np.int32).reshape(size, LINK_COLUMNS)


def _first_words(links: NDArray[np.int32]) -> NDArray[np.int64]:
    return links.view(np.int64)[:, FIRST_WORD]
