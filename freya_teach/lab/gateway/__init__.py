"""A fake of both providers, with a policy of yours in the place of the model. (chapter 5.1)"""

from freya_teach.lab.gateway.gateway import RULES, Gateway, OwnRule, gateway
from freya_teach.lab.gateway.question import (
    Call,
    Move,
    Offered,
    Policy,
    Question,
    Said,
    answer,
    call,
)
from freya_teach.lab.gateway.rule import Rule, table, without
from freya_teach.lab.gateway.trouble import Trouble
from freya_teach.lab.gateway.wire import Refused

__all__ = [
    "RULES",
    "Call",
    "Gateway",
    "Move",
    "Offered",
    "OwnRule",
    "Policy",
    "Question",
    "Refused",
    "Rule",
    "Said",
    "Trouble",
    "answer",
    "call",
    "gateway",
    "table",
    "without",
]
