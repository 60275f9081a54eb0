"""The tree of exceptions that is drawn for a reader is the tree that there is."""

import re

from freya_teach import errors
from freya_teach.errors import AuthError, FreyaError, LLMError


def drawn() -> dict[str, str]:
    """Read the drawing: each class, and the one that it hangs under."""
    parents: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^( {4}[│ ├└─]*)([A-Z]\w+)(?:  |$)", line)
        if match:
            depth, name = len(match[1]), match[2]
            above = [(d, n) for d, n in above if d < depth]
            parents[name] = above[-1][1] if above else "Exception"
            above.append((depth, name))
    return parents


def test_the_tree_is_drawn_as_it_is() -> None:
    real = {
        name: value.__base__.__name__
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert drawn() == real


def test_every_error_says_when_it_happens() -> None:
    silent = [name for name in drawn() if not getattr(errors, name).__doc__]
    assert silent == []


def test_an_error_of_the_model_carries_what_the_other_end_said() -> None:
    problem = AuthError("no", provider="openai", status=401, provider_text="why", retry_after=2.0)
    assert (str(problem), problem.provider, problem.status) == ("no", "openai", 401)
    assert (problem.provider_text, problem.retry_after) == ("why", 2.0)
    assert isinstance(problem, LLMError | FreyaError)
    assert LLMError("bare").status is None
