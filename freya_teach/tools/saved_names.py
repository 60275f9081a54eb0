"""Names for saved bytes: made from their content, with an ending that starts nothing. (chapter 4.4)

A name that comes from the network could say anything (`../x`, `invoice.exe`). So the name is a
hash of the bytes, and the ending is one of a few for which a double click shows the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

FOLDER = "download"
SUFFIXES: Mapping[str, str] = {
    "text/plain": ".txt",
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/xml": ".xml",
    "application/xml": ".xml",
    "application/json": ".json",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    "application/gzip": ".gz",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "audio/mpeg": ".mp3",
    "audio/wav": ".wav",
    "video/mp4": ".mp4",
}
UNKNOWN = ".bin"


def download_name(data: bytes, hint: str) -> str:
    """The name for these bytes; the hint is a media type or an ending.

    >>> download_name(b"<p>hi</p>", "text/html; charset=utf-8")
    '0a4735281db70022.html'
    """
    return hashlib.sha256(data).hexdigest()[:16] + safe_suffix(hint)


def safe_suffix(hint: str) -> str:
    """The ending for a media type, or the ending itself when it is a known one; else ".bin".

    >>> safe_suffix("json"), safe_suffix("application/x-msdownload"), safe_suffix(".exe")
    ('.json', '.bin', '.bin')
    """
    kind = hint.partition(";")[0].strip().lower()
    if kind in SUFFIXES:
        return SUFFIXES[kind]
    if kind.endswith("+json"):
        return ".json"
    suffix = "." + kind.rpartition(".")[2]
    return suffix if suffix in SUFFIXES.values() else UNKNOWN
