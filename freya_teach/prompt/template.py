"""Placeholders in a prompt, filled in literally, and their mistakes found in time. (chapter 3.4)

A placeholder is a name in single braces, `{text}`. Nothing else is special: JSON and code keep
their braces, `{{text}}` stays as it is, and a value may hold anything, placeholders included.
"""

from __future__ import annotations

import difflib
import re

from freya_teach.errors import PromptError

PLACEHOLDER = re.compile(r"(?<!\{)\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})")


def render(template: str, **values: str) -> str:
    r"""The template with each `{name}` replaced by its value, in one pass.

    Every value must have its placeholder, and every placeholder its value: a misspelt one would
    reach the model as it stands. Raises `PromptError` that names it and what comes close.

    >>> render('{"said": "{text}"}', text="Hi {there}")
    '{"said": "Hi {there}"}'
    """
    found = placeholders(template)
    if unknown := sorted(found - values.keys()):
        raise PromptError(_unknown(unknown[0], list(values)))
    if missing := sorted(values.keys() - found):
        raise PromptError(_missing(missing[0], template, found))
    return PLACEHOLDER.sub(lambda match: values[match[1]], template)


def placeholders(template: str) -> set[str]:
    """The names of the placeholders in a template.

    >>> sorted(placeholders('{text} {"json": {}} {{not_this}} {and_this}'))
    ['and_this', 'text']
    """
    return set(PLACEHOLDER.findall(template))


def _unknown(name: str, declared: list[str]) -> str:
    close = difflib.get_close_matches(name, declared, n=1, cutoff=0.4)
    hint = f" Did you mean {{{close[0]}}}?" if close else ""
    return (
        f"the template has a placeholder {{{name}}}, which nothing fills in.{hint} "
        f"There are: {_listed(declared)}. Write {{{{{name}}}}} if the braces are meant as text."
    )


def _missing(name: str, template: str, found: set[str]) -> str:
    hint = ""
    if f"{{{name}}}" in template:  # as in {"said": {text}}
        hint = f" The {{{name}}} in it touches another brace, and is text: put a space between."
    return (
        f"the template has no {{{name}}}, so its value would be lost.{hint} "
        f"Placeholders in it: {_listed(found)}."
    )


def _listed(names: list[str] | set[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "none"
