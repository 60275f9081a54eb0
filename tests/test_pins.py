"""The script behind `make check` that keeps pins, resolution and environment equal."""

import importlib.util
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("pins", ROOT / ".ci" / "pins.py")
assert spec is not None
assert spec.loader is not None
pins = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pins)

TEXT = '[tool.uv]\nconstraint-dependencies = [\n    "a==1",\n]\n\n[tool.other]\nx = ["]"]\n'


def test_all_equal_is_no_finding() -> None:
    assert pins.differences(["a==1"], ["a==1"], {"a": "1"}) == []


def test_every_kind_of_difference_is_named() -> None:
    found = pins.differences(["a==1", "b==1"], ["a==2", "b==1"], {"a": "3", "c": "1"})
    assert found == [
        "not pinned: a==2",
        "pinned but not resolved: a==1",
        "a 1 is pinned but 3 is installed",
        "b 1 is pinned but not installed",
        "c is installed but not pinned",
    ]


def test_a_pin_for_another_system_need_not_be_installed() -> None:
    line = "pywin==1 ; sys_platform == 'no-such-system'"
    assert pins.differences([line], [line], {}) == []


def test_the_list_is_replaced_and_the_rest_of_the_file_stays() -> None:
    emptied = pins.replace_block(TEXT, [])
    assert tomllib.loads(emptied)["tool"]["uv"]["constraint-dependencies"] == []
    filled = pins.replace_block(emptied, ["b==2", "c==3 ; python_version < '3.12'"])
    assert pins.pinned(filled) == ["b==2", "c==3 ; python_version < '3.12'"]
    assert filled.endswith('\n[tool.other]\nx = ["]"]\n')
    assert pins.replace_block(filled, ["a==1"]) == TEXT


def test_every_pin_names_one_exact_version() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert [line for line in pins.pinned(text) if "==" not in line.split(";")[0]] == []
