"""The token with which a tool learns that nobody waits for it any more."""

import threading

from freya_teach import ToolContext
from freya_teach.tools.tool import CancelToken


def test_a_token_is_quiet_until_it_is_cancelled() -> None:
    token = CancelToken()
    assert (token.cancelled, token.wait(0)) == (False, False)
    token.cancel()
    assert (token.cancelled, token.wait(30)) == (True, True)


def test_a_thread_that_waits_is_woken_at_once() -> None:
    token = CancelToken()
    told: list[bool] = []
    thread = threading.Thread(target=lambda: told.append(token.wait(30)))
    thread.start()
    token.cancel()
    thread.join(30)
    assert told == [True]


def test_each_call_has_a_token_of_its_own() -> None:
    one, two = ToolContext("1", "s"), ToolContext("2", "s")
    one.cancel.cancel()
    assert not two.cancel.cancelled
