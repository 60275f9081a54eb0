"""In a real kernel: the learner's own lines, the stop button, and a kernel that lives on."""

import os
import re
from collections.abc import Iterator

import pytest
from jupyter_client import BlockingKernelClient, KernelManager

SETUP = """
from freya_teach.lab.exercises import Exercise, judge

async def call_it(answer):
    await answer.call({"city": "Oslo"})

def exercise(seconds):
    return Exercise(id="9.9-a", title="It works.", name="answer", check=call_it,
                    hints=(), solution=None, stub=None, wrong=(), seconds=seconds)

"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[KernelManager]:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=dict(os.environ))
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def client(kernel: KernelManager) -> Iterator[BlockingKernelClient]:
    client = kernel.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    run(client, SETUP)
    yield client
    client.stop_channels()


def run(client: BlockingKernelClient, cell: str) -> str:
    """Run a cell and return all that a learner would see under it."""
    seen: list[str] = []

    def note(message: dict[str, dict[str, str]]) -> None:
        content = message["content"]
        seen.append(content.get("text", "") + "\n".join(content.get("traceback", "")))

    client.execute_interactive(cell, timeout=60, output_hook=note, store_history=False)
    return re.sub(r"\x1b\[[0-9;]*m", "", "".join(seen))


def check(body: str, seconds: float = 0.3) -> str:
    """Write a cell in which a learner defines a function and has it checked."""
    return f"{body}\n\nprint(await judge(exercise({seconds}), answer))"


def test_the_line_is_counted_within_the_cell(client: BlockingKernelClient) -> None:
    seen = run(client, check('def answer(call):\n    name = "town"\n    return call[name]'))
    assert seen.startswith(
        "✗ 9.9-a: your code raised KeyError: 'town'\n    line 3: return call[name]\n"
    )


def test_a_helper_from_another_cell_is_the_learners_own_too(client: BlockingKernelClient) -> None:
    run(client, "def helper(call):\n    # looks it up\n    return call['town']")
    seen = run(client, check("def answer(call):\n    return helper(call)"))
    assert "    line 3: return call['town']\n" in seen


def test_a_loop_is_stopped_and_exit_ends_nothing(client: BlockingKernelClient) -> None:
    loop = "def answer(call):\n    while True: pass"
    assert "    line 2: while True: pass\n" in run(client, check(loop))
    assert "raised SystemExit" in run(client, check("import sys\ndef answer(call): sys.exit()"))
    assert run(client, "print(exercise(1).name)") == "answer\n"


@pytest.mark.skipif(os.name == "nt", reason="the stop button there is no signal to a busy kernel")
def test_the_stop_button_ends_a_long_loop_at_once_and_the_kernel_lives(
    kernel: KernelManager, client: BlockingKernelClient
) -> None:
    """Jupyter's own handler for awaited cells waits for the loop, which student code blocks."""
    press = (
        "import os, signal, threading\n"
        "def answer(call):\n"
        "    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    while True: pass"
    )
    assert kernel.is_alive()
    seen = run(client, check(press, seconds=600))
    assert "Interrupted while your code was running." in seen
    assert "watchdog" not in seen
    assert run(client, "print(6 * 7)") == "42\n"
