"""The words by which a description is judged, and the names whose values have a form. (chapter 4.1)

Each pattern rather lets a weak description pass than blames a good one.
"""

from __future__ import annotations

import re

FORMATTED = re.compile(
    r"(^|_)(path|file|filename|folder|dir|directory|url|uri|link|date|time|datetime|timestamp|"
    r"email|phone|id|ids|currency|country|locale|timezone|zone|regex|pattern|glob|sql|"
    r"expression|cron|coordinates)$"
)
"""The last word of a parameter's name: a text of this kind has a form."""
OFTEN_WRONG = re.compile(
    r"(^|_)(path|file|filename|folder|dir|directory|date|time|datetime|timestamp)$"
)
"""Here models are known to choose another form: an absolute path, or "next Monday"."""
IDENTIFIER = re.compile(r"(^|_)ids?$")
PATH = re.compile(r"(^|_)(path|file|filename)$")
USES_WHAT_IS_THERE = re.compile(
    r"^(read|open|load|get|show|view|edit|update|delete|remove|move|rename|copy|run|parse)"
)
"""The first word of a tool's name: its files must exist before."""

EXAMPLE = re.compile(
    r"\b(for example|for instance|such as|like|example)\b|\be\.g\.|(?<!\w)[\"'`“‘]\S",
    re.IGNORECASE,
)
COUNTEREXAMPLE = re.compile(
    r"\b(not|never|no|without|instead of|only|must|don't|cannot)\b", re.IGNORECASE
)
LEFT_OUT = re.compile(
    r"\b(defaults?|left out|leave (it )?(out|empty)|omit(ted)?|without it|optional|empty|null|none|"
    r"unless|(if|when) not given|not given|unset|otherwise|if you (do not|don't)|"
    r"if the user (does not|doesn't|did not))\b",
    re.IGNORECASE,
)
SOURCE = re.compile(
    r"\b(from|call|returned|returns|given by|listed|list|search|first|must exist|as shown|"
    r"the user (gave|gives|has to give|names|named))\b|`\w+`",
    re.IGNORECASE,
)
NAMES_A_TOOL = re.compile(r"`\w+`|\b(call|use|with|from) [a-z]+_\w+", re.IGNORECASE)

VALUE = r"(?<!\w)[\"'`“‘][\w-]+[\"'`”’]"
LISTED = re.compile(
    rf"{VALUE}(?:\s*(?:,|/|\||or|and)+\s*(?:or\s+)?{VALUE})+"
    r"|\b(?:one of|either|(?:allowed|possible|valid) values(?: are)?):?\s+"
    r"[\w-]+(?:(?:,\s*(?:or\s+)?|\s+or\s+|\s*[|/]\s*)[\w-]+)+",
    re.IGNORECASE,
)
"""Two or more values, in quotes or after words that announce them."""
JUST_EXAMPLES = re.compile(
    r"\b(for example|for instance|e\.g\.|such as|like|not|never)\W*$", re.IGNORECASE
)
"""What stands right before a list that is not meant to be complete."""
