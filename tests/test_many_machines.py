"""Files for programs that we do not run here: at least they say what those programs understand."""

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from freya_teach.cli.classroom import MEGABYTES_PER_STUDENT
from freya_teach.cli.main import build_app

ROOT = Path(__file__).resolve().parent.parent
VALUES = ROOT / "book" / "workshop" / "zero-to-jupyterhub.yaml"

CHART = {
    "hub": {"concurrentSpawnLimit", "config"},
    "proxy": {"https"},
    "proxy.https": {"enabled", "hosts", "letsencrypt"},
    "proxy.https.letsencrypt": {"contactEmail"},
    "singleuser": {
        "cmd",
        "cpu",
        "defaultUrl",
        "image",
        "memory",
        "networkPolicy",
        "startTimeout",
        "storage",
    },
    "singleuser.image": {"name", "tag"},
    "singleuser.memory": {"guarantee", "limit"},
    "singleuser.cpu": {"guarantee", "limit"},
    "singleuser.storage": {"capacity"},
    "singleuser.networkPolicy": {"egressAllowRules"},
    "singleuser.networkPolicy.egressAllowRules": {"nonPrivateIPs"},
    "cull": {"enabled", "timeout"},
    "prePuller": {"hook"},
    "prePuller.hook": {"enabled"},
}
"""The keys of the chart that we use, as its configuration reference names them."""

DEVCONTAINER = {
    "customizations",
    "forwardPorts",
    "hostRequirements",
    "image",
    "name",
    "portsAttributes",
    "postCreateCommand",
}
"""The properties that we use, from the reference of the Development Containers specification."""


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    yaml: Any = import_module("yaml")  # Any: it has no types
    loaded: dict[str, Any] = yaml.safe_load(VALUES.read_text(encoding="utf-8"))
    return loaded


def test_the_values_have_only_keys_that_the_chart_knows(values: dict[str, Any]) -> None:
    assert values.keys() == {path.split(".")[0] for path in CHART}
    for path, known in CHART.items():
        part = values
        for name in path.split("."):
            part = part[name]
        assert part.keys() == known, path


def test_a_pod_has_room_for_what_was_measured(values: dict[str, Any]) -> None:
    memory = {
        name: int(re.fullmatch(r"(\d+)M", size)[1])  # type: ignore[index]  # None is a failure
        for name, size in values["singleuser"]["memory"].items()
    }
    assert memory["guarantee"] > MEGABYTES_PER_STUDENT
    assert memory["limit"] > 2 * memory["guarantee"]


def test_a_pod_starts_a_command_that_is_there(values: dict[str, Any]) -> None:
    program, command = values["singleuser"]["cmd"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert program in project["scripts"]
    assert command in {
        info.callback.__name__ for info in build_app().registered_commands if info.callback
    }


def test_nobody_is_let_in_before_somebody_is_named(values: dict[str, Any]) -> None:
    config = values["hub"]["config"]
    assert "allow_all" not in config["Authenticator"]
    assert config["Authenticator"]["allowed_users"] == ["FILL-IN"]
    assert config["JupyterHub"]["authenticator_class"] not in {"dummy", "shared-password"}
    assert "secret" not in json.dumps(config)


def test_the_image_installs_the_course_with_a_python_that_it_supports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime = (ROOT / ".binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    version = re.fullmatch(r"python-(3\.\d+)", runtime)
    assert version
    assert Requirement(f"python{project['requires-python']}").specifier.contains(version[1])
    lines = (ROOT / ".binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    (wanted,) = (line for line in lines if not line.startswith("#"))
    extras = re.fullmatch(r"\.\[([a-z,]+)\]", wanted)
    assert extras
    assert set(extras[1].split(",")) <= project["optional-dependencies"].keys()


def test_the_devcontainer_has_only_properties_of_the_specification() -> None:
    text = (ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8")
    container = json.loads(text)
    assert container.keys() == DEVCONTAINER
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (version,) = re.findall(r"^UV_VERSION := (\S+)$", makefile, re.MULTILINE)
    assert f"uv=={version} " in container["postCreateCommand"]
    assert set(container["portsAttributes"]) == {str(p) for p in container["forwardPorts"]}
