"""The lab: recordings, lessons, sample tools. It may import the kernel, never the reverse. (start)

A notebook needs one line of it: `from freya_teach.lab import lesson; lab = lesson("2.3")`.
"""

from freya_teach.lab.lesson import Lesson, lesson

__all__ = ["Lesson", "lesson"]
