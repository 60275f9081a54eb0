"""The classic accidents of sessions, each broken and repaired, the same every time. (chapter 6.4)

from freya_teach.lab import races

off = await races.run(races.lost_update, "A B A B")
on = await races.run(races.lost_update, "A B A B", queue=races.OneByOne)
lab.view.race({"lock off": off, "lock on": on})

runs = await races.all_orders(races.lost_update)
print(sum(bool(run.wrong) for run in runs), "of", len(runs))     # 4 of 6
"""

from freya_teach.lab.races.crosstalk import (
    by_copy,
    by_reference,
    context_variable,
    early_worker,
    explicit_parameter,
    module_variable,
    shared_session,
)
from freya_teach.lab.races.orders import Accident, Run, Verdict, all_orders, run
from freya_teach.lab.races.queues import Chain, KernelQueue, NoQueue, OneByOne, Queue
from freya_teach.lab.races.stage import Actor, Event, Stage, Stand
from freya_teach.lab.races.writes import lost_update, nested_write, poisoned_queue

__all__ = [
    "Accident",
    "Actor",
    "Chain",
    "Event",
    "KernelQueue",
    "NoQueue",
    "OneByOne",
    "Queue",
    "Run",
    "Stage",
    "Stand",
    "Verdict",
    "all_orders",
    "by_copy",
    "by_reference",
    "context_variable",
    "early_worker",
    "explicit_parameter",
    "lost_update",
    "module_variable",
    "nested_write",
    "poisoned_queue",
    "run",
    "shared_session",
]
