"""A learner's answer as a check sees it: a value, or a function that is safe to call. (start)"""

from __future__ import annotations

import copy
import inspect
import itertools
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from types import CodeType
from typing import Any

from freya_teach.lab.exercises.exercise import Exercise, Finding, NotDone, NotYet, Raised, expect
from freya_teach.lab.exercises.student_code import StudentCode
from freya_teach.lab.exercises.wording import clean, namespace_of, short


@dataclass(slots=True)
class Answer:
    """What the learner gave. A check may hand `answer.call` itself on, as a tool or as a hook.

    What goes wrong in a call is kept in `findings`, so that nobody between the learner's function
    and the check can swallow it.
    """

    exercise: Exercise
    given: Any
    findings: list[Finding] = field(default_factory=list)
    code: StudentCode = field(init=False)

    def __post_init__(self) -> None:
        self.code = StudentCode(namespace_of(self.given), self.exercise.seconds)
        if inspect.iscoroutine(self.given):
            self.given.close()  # it will never be awaited

    @property
    def value(self) -> Any:
        """The value itself. Raises `NotDone` while it is None, `...` or "..."."""
        if is_blank(self.given):
            raise NotDone(f"not done yet: {self.exercise.name} is {short(self.given)}.")
        return self.given

    def for_each_of(self, names: Collection[str], unit: str) -> dict[str, Any]:
        """A value for each of these names. Raises `NotDone` while one of them is None."""
        given = self.value
        expect(
            isinstance(given, dict) and set(given) == set(names),
            f"give a dictionary with these names: {', '.join(names)}.",
            received=given,
        )
        if any(value is None for value in given.values()):
            raise NotDone(f"not done yet: write {unit}.")
        return dict(given)

    async def call(self, *args: Any, **kwargs: Any) -> Any:
        """What the learner's function gives back, sync or async; else raises a `Finding`."""
        return await self._remember(self._call(lambda function: function, args, kwargs))

    async def items(self, *args: Any, most: int = 1000, **kwargs: Any) -> list[Any]:
        """The first items of what a learner's generator yields, sync or async."""
        call = self._call(lambda function: partial(_items_of, function, most), args, kwargs)
        found: list[Any] = await self._remember(call)
        return found

    async def attempt(self, *args: Any, **kwargs: Any) -> tuple[Any, Raised | None]:
        """Like `call`, where raising is the point: the value, or what was raised (`.problem`)."""
        try:
            return await self.call(*args, **kwargs), None
        except Raised as raised:
            self.findings.remove(raised)
            return None, raised

    async def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call something else of the learner's as safely: a method of what `call` gave back."""
        return await self._remember(self.code.call(function, *args, **kwargs))

    @property
    def _name(self) -> str:
        return self.exercise.name

    def _function(self) -> Callable[..., Any]:
        given = self.value
        if callable(given):
            return given  # type: ignore[no-any-return]
        raise NotYet(
            f"the check needs the function {self._name} itself, without calling it. "
            f"You gave {short(given)}."
        )

    async def _remember(self, call: Awaitable[Any]) -> Any:
        try:
            return await call
        except Finding as finding:
            self.findings.append(finding)
            raise

    async def _call(
        self,
        prepare: Callable[[Callable[..., Any]], Callable[..., Any]],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        function = prepare(self._function())
        _check_that_it_takes(self._name, self.given, args, kwargs)
        before = [(value, _copied(value)) for value in (*args, *kwargs.values())]
        received = await self.code.call(function, *args, **kwargs)
        self._look_at(received)
        if not self.exercise.may_change_arguments:
            for value, was in before:
                _check_unchanged(self._name, value, was)
        return received

    def _look_at(self, received: Any) -> None:
        name = self._name
        if is_blank(received) and is_untouched(self.given, self.exercise.stub):
            raise NotDone(f"not done yet: {name} gives back {short(received)} so far.")
        if received is None and not self.exercise.none_is_an_answer:
            raise NotYet(f"{name} gave back None. Does every way through it end with a return?")
        if inspect.isgenerator(received) or inspect.isasyncgen(received):
            raise NotYet(f"{name} gave back a generator, because there is a yield in it.")


def is_blank(value: Any) -> bool:
    """Whether a value is what stands in a stub."""
    return value is None or value is Ellipsis or (isinstance(value, str) and value == "...")


def is_untouched(function: Any, stub: Any) -> bool:
    """Whether a function is still the stub: the same code, or code that uses nothing at all."""
    code, original = (getattr(each, "__code__", None) for each in (function, stub))
    if not isinstance(code, CodeType):
        return False
    if isinstance(original, CodeType) and _essence(code) == _essence(original):
        return True
    return not (code.co_names or code.co_freevars or code.co_cellvars) and _only_arguments(code)


def _essence(code: CodeType) -> tuple[Any, ...]:
    return code.co_code, code.co_names, code.co_varnames


def _only_arguments(code: CodeType) -> bool:
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_nlocals == code.co_argcount + code.co_kwonlyargcount + stars


async def _items_of(function: Callable[..., Any], most: int, *args: Any, **kwargs: Any) -> Any:
    made = function(*args, **kwargs)
    if inspect.isasyncgen(made):
        found: list[Any] = []
        async for item in made:
            found.append(item)
            if len(found) == most:
                break
        await made.aclose()
        return found
    if is_blank(made):
        return made
    return list(itertools.islice(made, most))


def _check_that_it_takes(
    name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # some builtins have none
    try:
        signature.bind(*args, **kwargs)
    except TypeError as problem:
        given = [short(value) for value in args]
        given += [f"{key}={short(value)}" for key, value in kwargs.items()]
        raise NotYet(
            f"{name}{clean(str(signature))} cannot be called as {name}({', '.join(given)}): "
            f"{problem}."
        ) from None


def _copied(value: Any) -> Any:
    """A deep copy, or the value itself where a copy cannot be made or is not equal to it."""
    try:
        copied = copy.deepcopy(value)
        equal = bool(copied == value)
    except Exception:  # noqa: BLE001 - a client or a lock; then it is not watched
        return value
    return copied if equal else value


def _check_unchanged(name: str, value: Any, was: Any) -> None:
    try:
        same = bool(value == was)
    except Exception:  # noqa: BLE001 - what cannot be compared is not watched
        return
    if not same:
        raise NotYet(
            f"{name} changed what it was given. Work on a copy.\n"
            f"Before: {short(was)}\nAfter:  {short(value)}"
        )
