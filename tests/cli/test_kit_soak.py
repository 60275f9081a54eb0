"""A kit is made, unpacked in an empty home, set up and used with the network cut: `make soak`."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.test_packaging import find_uv

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux", reason="cuts the network the way Linux can"),
]

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
PLATFORM = "linux-arm" if os.uname().machine == "aarch64" else "linux" if os.name == "posix" else ""
RUN = """
import asyncio, nbformat, sys
from nbclient import NotebookClient
from freya_teach.paths import course_folder, in_checkout
assert not in_checkout()
path = course_folder("notebooks") / "part2_tools" / "4.2_tool_call_raw_packet.ipynb"
NotebookClient(nbformat.read(path, as_version=4), kernel_name="python3").execute()
print("the notebook ran to its end")
"""

REPACK = """
import sys
from pathlib import Path
from freya_teach.cli.kit_own import own_wheel
print(own_wheel(Path(sys.argv[1])))
"""


def without_network() -> list[str]:
    """A command's beginning: no network but loopback, in a namespace of its own."""
    unshare = shutil.which("unshare")
    command = [str(unshare), "--net", "--map-root-user", "sh", "-c"]
    command += ['ip link set lo up 2>/dev/null; exec "$@"', "sh"]
    works = unshare and subprocess.run([*command, "true"], check=False).returncode == 0
    if not works:
        pytest.skip("unshare cannot cut the network here")
    return command


def contents(wheel: Path) -> dict[str, bytes]:
    """What is in a wheel, but for the record, whose rows may stand in another order."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/RECORD")]
        return {name: archive.read(name) for name in names}


def test_the_course_is_set_up_and_runs_without_a_network(tmp_path: Path) -> None:
    cut = without_network()
    kit, site = tmp_path / "kit.zip", tmp_path / "site"
    (site / "part").mkdir(parents=True)
    for page in ("index.html", "part/1.html"):
        (site / page).write_text("a page", encoding="utf-8")
    command = [sys.executable, "-m", "freya_teach.cli", "kit", "--to", str(kit)]
    made = subprocess.run(
        [*command, "--python", HERE, "--platform", PLATFORM, "--book", str(site)],
        check=True,
        env={**os.environ, "UV": find_uv()},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    print(made.stdout)
    assert f"With the book of {site}" in made.stdout
    assert re.search(r"is written: \d+\.\d MB, \d+ wheels", made.stdout)
    with zipfile.ZipFile(kit) as archive:
        archive.extractall(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    learner = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHON": sys.executable}

    def offline(*arguments: str | Path) -> str:
        done = subprocess.run(
            [*cut, *map(str, arguments)],
            check=False,
            cwd=tmp_path,
            env=learner,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    place = tmp_path / "freya-kit"
    assert (place / "book" / "part" / "1.html").read_text(encoding="utf-8") == "a page"
    assert "book/index.html" in (place / "README.txt").read_text(encoding="utf-8")
    said = offline("sh", place / "install.sh")
    assert "no key and no network needed" in said
    assert f"{place}/env/bin/freya-teach lab" in said
    python = place / "env" / "bin" / "python"
    assert "ran to its end" in offline(python, "-c", RUN)
    (came,) = (place / "wheels").glob("freya_teach-*.whl")
    again = Path(offline(python, "-c", REPACK, tmp_path / "again").strip())
    assert again.name == came.name
    assert contents(again) == contents(came)  # so that a kit can be made of a kit
    with pytest.raises(AssertionError, match=r"unreachable|resolution|Errno"):
        offline(python, "-c", "import socket; socket.create_connection(('192.0.2.1', 80), 5)")
