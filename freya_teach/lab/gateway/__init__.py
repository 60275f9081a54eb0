"""A fake of both providers, with a policy of yours in the place of the model. (chapter 5.1)"""

from freya_teach.lab.gateway.gateway import Gateway, Rule, gateway
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
from freya_teach.lab.gateway.wire import Refused

__all__ = [
    "Call",
    "Gateway",
    "Move",
    "Offered",
    "Policy",
    "Question",
    "Refused",
    "Rule",
    "Said",
    "answer",
    "call",
    "gateway",
]
