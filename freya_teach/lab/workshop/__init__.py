"""The course in a room: a schedule, the instructor's notes, slides, copies for live coding. (start)

sections = read_sections(course_folder("notebooks"))
schedule = plan(sections, minutes=180)
print(as_text(schedule))
"""

from freya_teach.lab.workshop.notes import notes_of, without_notes
from freya_teach.lab.workshop.schedule import Entry, LeftOut, Schedule, plan
from freya_teach.lab.workshop.sections import Piece, Section, read_section, read_sections
from freya_teach.lab.workshop.telling import as_json, as_markdown, as_text

__all__ = [
    "Entry",
    "LeftOut",
    "Piece",
    "Schedule",
    "Section",
    "as_json",
    "as_markdown",
    "as_text",
    "notes_of",
    "plan",
    "read_section",
    "read_sections",
    "without_notes",
]
