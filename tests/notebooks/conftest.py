"""The authors' tools, which lie outside the package, can be imported by the tests here."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".ci" / "notebooks"))
