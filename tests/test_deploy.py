"""What deploy/ names is in the product: settings, commands, routes, ports, users, files. No container engine is needed."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from prometheus_client import CollectorRegistry
from typer.main import get_command

from bot.cli import app
from bot.settings import Settings
from bot.web.health import add_routes
from tests.command_lines import refused

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
KUBERNETES = {
    (found["kind"], path.name): found
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for found in yaml.safe_load_all(path.read_text(encoding="utf-8"))
}
UNITS = sorted((DEPLOY / "systemd").iterdir())
PORT = Settings.model_fields["port"].default
# Other programs read these.
OTHERS = {"HOME", "PATH", "MPLCONFIGDIR", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "XDG_STATE_HOME"}
POD = KUBERNETES["Deployment", "precedent.yaml"]["spec"]["template"]["spec"]


def unit(name: str) -> configparser.RawConfigParser:
    read = configparser.RawConfigParser(strict=False, delimiters=("=",))
    read.optionxform = str  # type: ignore[method-assign,assignment]  # the module's own way of keeping upper case
    read.read(DEPLOY / "systemd" / name, encoding="utf-8")
    return read


def environment() -> Iterator[str]:
    """Every variable that is set for the bot."""
    yield from re.findall(r"^(?:ENV| {4})\s*([A-Z_]+)=", DOCKERFILE.rpartition("\nFROM ")[2], re.MULTILINE)
    yield from COMPOSE["x-precedent"]["environment"]
    yield from KUBERNETES["ConfigMap", "precedent.yaml"]["data"]
    yield from KUBERNETES["Secret", "secret.example.yaml"]["stringData"]
    for path in UNITS:
        yield from re.findall(r"^Environment=([A-Z_]+)=", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_variable_is_a_setting() -> None:
    named = set(environment())
    assert {"DATABASE_URL_FILE", "SLACK_BOT_TOKEN", "HOST", "PORT"} <= named
    fields = {name.upper() for name in Settings.model_fields}
    assert {n for n in named if n not in fields and n.removesuffix("_FILE") not in fields} <= OTHERS


def test_every_command_is_one() -> None:
    lines = [
        line for path in UNITS for line in re.findall(r"bin/precedent ([^'\n]+)", path.read_text(encoding="utf-8"))
    ]
    containers = [*POD["initContainers"], *POD["containers"]]
    lines += [" ".join(given) for given in [json.loads(re.findall(r"^CMD (\[.*)", DOCKERFILE, re.MULTILINE)[-1])]]
    lines += [" ".join(c["args"]) for c in containers] + [
        " ".join(COMPOSE["services"][s]["command"]) for s in ("precedent", "migrate")
    ]
    assert sorted({line.split()[0] for line in lines}) == ["backup", "migrate", "serve"]
    assert [(line, why) for line in lines if (why := refused(line))] == []
    assert get_command(app).name == json.loads(re.findall(r"^ENTRYPOINT (.*)", DOCKERFILE, re.MULTILINE)[0])[0]


async def test_probes_and_ports_are_those_of_the_bot() -> None:
    async def ready() -> tuple[bool, dict[str, str]]:
        return True, {}

    server = web.Application()
    add_routes(server, ready, CollectorRegistry())
    routes = {route.resource.canonical for route in server.router.routes() if route.resource}
    text = "\n".join(path.read_text(encoding="utf-8") for path in DEPLOY.rglob("*") if path.is_file())
    assert set(re.findall(r"(?<![\w.])/(?:healthz|readyz|metrics)\b", text)) == routes
    (container,) = POD["containers"]
    assert [p["containerPort"] for p in container["ports"]] == [PORT]
    assert {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness")} == {"/healthz"}
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    service = KUBERNETES["Service", "precedent.yaml"]["spec"]
    assert [p["targetPort"] for p in service["ports"]] == [p["name"] for p in container["ports"]]
    assert f"EXPOSE {PORT}" in DOCKERFILE
    assert COMPOSE["services"]["precedent"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]


def confined(container: dict[str, Any]) -> bool:
    context = container["securityContext"]
    return (
        context["readOnlyRootFilesystem"]
        and not context["allowPrivilegeEscalation"]
        and context["capabilities"] == {"drop": ["ALL"]}
    )


def test_nothing_runs_as_root_or_writes_its_root() -> None:
    user = re.findall(r"^USER (\d+):", DOCKERFILE, re.MULTILINE)
    assert user == [str(POD["securityContext"]["runAsUser"])]
    assert f"--uid {user[0]}" in DOCKERFILE
    assert POD["securityContext"]["runAsNonRoot"]
    assert all(confined(container) for container in (*POD["initContainers"], *POD["containers"]))
    assert (COMPOSE["x-precedent"]["read_only"], COMPOSE["x-precedent"]["cap_drop"]) == (True, ["ALL"])
    service = unit("precedent.service")["Service"]
    assert (service["User"], service["ProtectSystem"], service["NoNewPrivileges"]) == ("precedent", "strict", "yes")


def test_the_image_is_built_from_the_locks_and_from_what_is_there() -> None:
    assert re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) == ["python:3.11-slim-bookworm"] * 2
    installs = re.findall(r"pip install ([^\\\n]+)", DOCKERFILE)
    assert [("--require-hashes" in line, "--no-index" in line) for line in installs] == [
        (True, False),
        (True, False),
        (False, True),
    ]
    copied = [name for line in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8")
    assert sorted(copied) == sorted(re.findall(r"^!(.+)$", ignored, re.MULTILINE))
    images = [service["image"] for service in COMPOSE["services"].values() if "image" in service]
    assert [image for image in images if "." in image.partition("/")[0] and "/" in image] == []


def test_secrets_and_volumes_that_are_used_are_declared() -> None:
    services = COMPOSE["services"].values()
    assert {name for service in services for name in service.get("secrets", ())} == set(COMPOSE["secrets"])
    assert {v.partition(":")[0] for service in services for v in service.get("volumes", ())} == set(COMPOSE["volumes"])
    assert {n for service in services for n in service.get("depends_on", ())} <= set(COMPOSE["services"])
    assert {mount["name"] for mount in POD["containers"][0]["volumeMounts"]} == {v["name"] for v in POD["volumes"]}


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    if not (analyze := shutil.which("systemd-analyze")):
        pytest.skip("systemd-analyze is not installed")
    for path in UNITS:
        text = path.read_text(encoding="utf-8").replace("/opt/precedent/bin/precedent", "/bin/true")
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    names = [str(tmp_path / path.name) for path in UNITS]
    done = subprocess.run([analyze, "verify", "--man=no", *names], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if str(tmp_path) in line or "precedent" in line] == []
    assert done.returncode == 0
