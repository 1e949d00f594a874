"""Bursts under budgets of all sizes: no answer of level A lacks a row that was refused."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from embedded.test_refused_rows import SCENES, check_scene


def test_answers_of_level_a_are_those_of_all_rows(is_whole: bool) -> None:
    chosen = settings(
        max_examples=400 if is_whole else 15,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    chosen(given(**SCENES)(check_scene))()
