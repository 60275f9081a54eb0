"""What every test gets: a closed network, and asyncio under `async def` tests."""

import pytest
from hypothesis import settings

from freya_teach.lab.network import shut_network

settings.register_profile("no-deadline", deadline=None)  # a busy machine is no failure
settings.load_profile("no-deadline")


def pytest_configure() -> None:
    """Refuse every connection but those to this machine, for the whole run."""
    shut_network()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, the only loop that the kernel is written for."""
    return "asyncio"
