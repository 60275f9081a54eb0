"""What every test gets: a closed network, and asyncio under `async def` tests."""

import os
import tempfile

import pytest
from hypothesis import settings

from freya_teach.lab.network import shut_network

settings.register_profile("no-deadline", deadline=None)  # a busy machine is no failure
settings.load_profile("no-deadline")


def pytest_configure() -> None:
    """For the whole run: connect to this machine only, leave the learner's own progress alone."""
    shut_network()
    os.environ["FREYA_PROGRESS_FILE"] = f"{tempfile.mkdtemp()}/progress.json"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, the only loop that the kernel is written for."""
    return "asyncio"
