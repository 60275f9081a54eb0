"""Every test of the views is a learner's, offline."""

import pytest


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("FREYA_LIVE", "FREYA_UPDATE_AUTHORED", "FREYA_VIEWS", "CI"):
        monkeypatch.delenv(variable, raising=False)
