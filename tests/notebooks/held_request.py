"""A kernel whose next requests can be held back, so that a cell is interrupted in its middle."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import running
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

HOLD = """
def hold_request(number, port):
    import asyncio, httpx
    send, sent = httpx.AsyncClient.send, 0

    async def held(client, request, **options):
        nonlocal sent
        sent += 1
        if sent == number:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                await reader.read()  # until the end of the stream, which does not come
            finally:
                writer.close()
        return await send(client, request, **options)

    httpx.AsyncClient.send = held
    return lambda: setattr(httpx.AsyncClient, "send", send)
"""


@dataclass
class HeldKernel:
    """A notebook's kernel, and the door at which a held request knocks."""

    client: NotebookClient
    port: int = 0
    knocked: asyncio.Event = field(default_factory=asyncio.Event)
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)

    async def open_door(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Note that a request is held; wake the kernel up once it has been interrupted.

        ipykernel 7.4 hears of an interrupt while it waits, but acts on it at the next thing that
        happens in its loop. With a real server that is the next byte; here it is this one.
        """
        self.knocked.set()
        await self.interrupted.wait()
        writer.write(b".")
        with contextlib.suppress(ConnectionError):  # the byte may never have been read
            await reader.read()  # until the kernel closes its end
        writer.close()

    @property
    def cells(self) -> list[Any]:
        """The notebook's own cells."""
        return list(self.client.nb.cells[:-1])

    async def silently(self, code: str) -> None:
        """Run code that is not the notebook's."""
        spare = len(self.client.nb.cells) - 1
        await self.client.async_execute_cell(new_code_cell(code), spare, store_history=False)

    async def run_cell(self, index: int) -> None:
        """Run a cell as a learner does."""
        await self.client.async_execute_cell(self.client.nb.cells[index], index)

    async def interrupt_at_request(self, index: int, number: int) -> bool:
        """Run a cell and interrupt it at its request of this number; False: it makes fewer."""
        await self.silently(f"release = hold_request({number}, {self.port})")
        running_cell = asyncio.create_task(self.run_to_its_end(index))
        knock = asyncio.create_task(self.knocked.wait())
        await asyncio.wait({running_cell, knock}, return_when=asyncio.FIRST_COMPLETED)
        if was_held := self.knocked.is_set():
            await self.client.km.interrupt_kernel()
            self.interrupted.set()
        await running_cell
        knock.cancel()
        await self.silently("release()")
        return was_held

    async def run_to_its_end(self, index: int) -> None:
        """Run a cell; an error is an end too."""
        tags = self.client.nb.cells[index].metadata.setdefault("tags", [])
        tags.append("raises-exception")
        await self.run_cell(index)
        tags.remove("raises-exception")


@contextlib.asynccontextmanager
async def held_kernel(path: Path, environment: dict[str, str]) -> AsyncIterator[HeldKernel]:
    """Start a kernel for a notebook, with `hold_request` in it."""
    notebook = running.read(path)
    notebook.cells.append(new_code_cell("", id="spare"))  # for what the test itself runs
    client = NotebookClient(
        notebook,
        timeout=running.CELL_SECONDS,
        kernel_name="python3",
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    held = HeldKernel(client)
    server = await asyncio.start_server(held.open_door, "127.0.0.1", 0)
    held.port = server.sockets[0].getsockname()[1]
    async with client.async_setup_kernel(env=environment):
        await held.silently(HOLD)
        yield held
    server.close()
