"""What is too long, or no text, is saved as it came, and the model learns where."""

import base64
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.tools.saving import Saved, as_text, media_type, save, told_bytes, told_text
from freya_teach.tools.workspace import Workspace

# A complete image: one transparent pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)


@dataclass
class FullDisk:
    """Says no, as a disk does that is full."""

    asked: list[str] = field(default_factory=list)

    def save_download(self, data: bytes, hint: str = "") -> str:
        self.asked.append(f"{len(data)} {hint}")
        raise OSError(28, "No space left on device", "/home/somebody/x")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"%PDF-1.7", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08", "application/gzip"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", "audio/wav"),
        (b"RIFF", "text/plain"),
        (b"\0\0\0\x20ftypisom", "video/mp4"),
        (b"<!DOCTYPE html><p>", "text/html"),
        (b' {"a": [1]}', "application/json"),
        (b'{"a": ', "text/plain"),
        ("北京".encode(), "text/plain"),
        (b"", "text/plain"),
        (b"a\0b", "application/octet-stream"),
        (b"\xff\xfea", "application/octet-stream"),
        (b"MZ\x90", "application/octet-stream"),
        (b"[" * 100_000, "text/plain"),
    ],
)
def test_the_kind_is_told_from_the_bytes_themselves(data: bytes, kind: str) -> None:
    assert media_type(data) == kind


@given(data=st.binary(max_size=300))
def test_any_bytes_have_a_kind_and_are_saved_as_they_are(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("workspace")
    saved = save(data, media_type(data), Workspace(root))
    assert (root / saved.path).read_bytes() == data
    assert saved.path.startswith("download/")
    assert Path(saved.path).suffix not in {"", ".exe", ".sh", ".py"}
    assert as_text(data) is None or data.decode() == as_text(data)


def test_the_same_bytes_are_saved_once(tmp_path: Path) -> None:
    paths = {save(PNG, "image/png", Workspace(tmp_path)).path for _ in range(3)}
    assert len(paths) == 1
    assert len(list((tmp_path / "download").iterdir())) == 1


def test_of_a_long_text_the_model_reads_both_ends_and_the_call_that_reads_on() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 5_001))
    said = told_text(text, "43,893 characters", "text/plain", Saved("download/ab.txt"), 20_000)
    lines = said.splitlines()
    assert lines[0] == (
        "The result has 43,893 characters (text/plain). It is saved as download/ab.txt."
    )
    assert lines[1] == "line 1"
    assert lines[-1] == "line 5000"
    assert '; read_file(path="download/ab.txt", start_line=' in said
    assert len(said) < 2_200


def test_the_call_begins_where_the_head_ends() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 5_001))
    said = told_text(text, "", "", Saved("download/ab.txt"), 20_000)
    first = int(said.partition("start_line=")[2].partition(",")[0])
    assert f"line {first - 2}\n" in said.partition("[...")[0]


def test_when_the_disk_is_full_the_model_gets_what_fits() -> None:
    disk = FullDisk()
    saved = save(b"x" * 500, "text/plain", disk)
    assert (saved, disk.asked) == (Saved(problem="OSError"), ["500 text/plain"])
    assert len(told_text("x" * 500, "", "", saved, 200)) == 200
    assert told_bytes(PNG, "image/png", saved) == (
        f"The tool returned {len(PNG)} bytes (image/png), which cannot be shown as text, and "
        "saving them failed (OSError)."
    )
