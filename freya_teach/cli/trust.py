"""Sign the learner's untouched notebooks, so that JupyterLab shows their stored pictures. (start)

Jupyter draws no HTML of a notebook that it does not trust, because an output may hold a script. It
trusts what this machine has signed. Only a notebook that is, byte for byte, as the course hands it
out is signed here; one that was edited is the learner's to run.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from freya_teach.cli.working_copy import for_learners


def sign_untouched(originals: Path, copy: Path) -> int:
    """Sign the notebooks of a copy that are as they came; return how many. Raises nothing.

    A machine on which nothing can be signed shows the words of a picture until its cell is run.
    """
    files = [(path, originals / path.relative_to(copy)) for path in copy.rglob("*.ipynb")]
    nbformat: Any = import_module("nbformat")  # Any: it has no types
    signing: Any = import_module("nbformat.sign")
    try:
        notary = signing.NotebookNotary()
        untouched = [path for path, original in files if _is_same(path, original)]
        for path in untouched:
            notary.sign(nbformat.read(path, as_version=4))
    except Exception:  # noqa: BLE001 - a convenience, and no reason not to open the course
        return 0
    return len(untouched)


def _is_same(path: Path, original: Path) -> bool:
    return original.is_file() and path.read_bytes() == for_learners(original)
