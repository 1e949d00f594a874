"""Keys of negations cast to the type of the join, so that equal values are partitioned alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from windrow.plan.equalities import JoinVariable
from windrow.plan.expressions import Expr
from windrow.plan.lossless import bare, is_lossless, meet
from windrow.plan.model import Negation
from windrow.plan.types import convert
from windrow.schema import ColumnType

__all__ = ["aligned"]


def aligned(negations: Sequence[Negation], joins: Iterable[JoinVariable]) -> tuple[Negation, ...]:
    """The same negations, each key in the type of its join variable or of the other negations."""
    kinds: dict[Expr, ColumnType] = {}
    for key in (key for negation in negations for key in negation.of_keys):
        known = kinds.setdefault(bare(key), key.type)
        kinds[bare(key)] = meet(known, key.type) or known
    kinds |= {bare(member): member.type for join in joins for member in join.members}
    return tuple(_converted(negation, kinds) for negation in negations)


def _converted(negation: Negation, kinds: dict[Expr, ColumnType]) -> Negation:
    pairs = [
        _pair(key, of_key, kinds[bare(of_key)])
        for key, of_key in zip(negation.keys, negation.of_keys, strict=True)
    ]
    keys, of_keys = tuple(key for key, _ in pairs), tuple(of_key for _, of_key in pairs)
    return replace(negation, keys=keys, of_keys=of_keys)


def _pair(key: Expr, of_key: Expr, kind: ColumnType) -> tuple[Expr, Expr]:
    """Both in that type, where none of them loses anything by it."""
    if all(is_lossless(bare(part).type, kind) for part in (key, of_key)):
        return convert(bare(key), kind), convert(bare(of_key), kind)
    return key, of_key
