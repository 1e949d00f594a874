"""What the folder deploy holds, against what there is: metrics, settings, files, the script."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from windrow.apps.service.settings import read_settings
from windrow.jobs.job import job_of
from windrow.metrics import METRICS

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
IN_PROCESS = {metric.name: metric for metric in METRICS if metric.where != "Spark"}


def loaded(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DEPLOY / "grafana" / "windrow.json").read_text("utf-8"))
    return found


def expressions() -> list[tuple[str, str]]:
    return [
        (target["expr"], target["legendFormat"])
        for panel in dashboard()["panels"]
        for target in panel["targets"]
    ]


@pytest.mark.parametrize(("expression", "legend"), expressions())
def test_the_dashboard_reads_metrics_that_exist(expression: str, legend: str) -> None:
    names = set(re.findall(r"windrow_\w+", expression))
    assert names
    assert names <= set(IN_PROCESS)
    labels = {label for name in names for label in IN_PROCESS[name].labels}
    grouped = re.findall(r"by \(([^)]*)\)", expression)
    selected = re.findall(r"(\w+)!?=~?\"", expression)
    used = {each.strip() for group in grouped for each in group.split(",")} | {*selected}
    assert used <= labels
    assert set(re.findall(r"{{(\w+)}}", legend)) <= labels


def test_panels_do_not_overlap_and_have_names_of_their_own() -> None:
    panels = dashboard()["panels"]
    assert len({each["id"] for each in panels}) == len({each["title"] for each in panels})
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert all(x < 24 for x, _ in cells)
        taken |= cells


def test_grafana_finds_its_dashboard_and_its_data() -> None:
    (source,) = loaded("grafana/datasources.yaml")["datasources"]
    assert {panel["datasource"]["uid"] for panel in dashboard()["panels"]} == {source["uid"]}
    (provider,) = loaded("grafana/dashboards.yaml")["providers"]
    mounts = [each.split(":") for each in loaded("compose.yaml")["services"]["grafana"]["volumes"]]
    inside = {parts[1] for parts in mounts}
    assert f"{provider['options']['path']}/windrow.json" in inside
    assert source["url"] == "http://prometheus:9090"


def test_what_compose_mounts_is_there() -> None:
    services = loaded("compose.yaml")["services"]
    volumes = [each for service in services.values() for each in service.get("volumes", ())]
    files = [each.split(":")[0] for each in volumes if each.startswith(".")]
    assert len(files) >= 5
    for file in files:
        assert (DEPLOY / file).is_file(), file
    build = services["windrow"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()
    for service in services.values():
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:")  # nothing is open to others by mistake


def test_the_settings_serve_and_the_script_is_sound() -> None:
    settings = read_settings(DEPLOY / "windrow.toml", {}, {})
    job = job_of(settings.script.read_text(encoding="utf-8"))
    job.check_runnable()
    services = loaded("compose.yaml")["services"]
    assert settings.allow_hosts == ("windrow",)
    (scrape,) = loaded("prometheus.yml")["scrape_configs"]
    assert scrape["static_configs"] == [{"targets": [f"windrow:{settings.port}"]}]
    assert (
        float(services["windrow"]["stop_grace_period"].removesuffix("s")) > settings.stop_within_s
    )
    unit = (DEPLOY / "windrow.service").read_text("utf-8")
    (timeout,) = re.findall(r"^TimeoutStopSec=(\d+)s$", unit, re.M)
    assert float(timeout) > settings.stop_within_s


def test_the_image_is_made_of_what_is_there() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.M):
        *copied, _ = line.split()
        for each in copied:
            assert (ROOT / each).exists(), each
    extras = re.findall(r'"\.\[([\w,]+)\]"', text)[0].split(",")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {*extras} <= {*known["optional-dependencies"]}
    (python, _) = re.findall(r"^FROM python:([\d.]+)-", text, re.M)
    assert f"Programming Language :: Python :: {python}" in known["classifiers"]
    assert re.search(r"^USER \d+$", text, re.M)
