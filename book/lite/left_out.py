"""Lessons that cannot run in the browser edition, each with its reason.

The reason ends a sentence: in the notebook's first lines, and on its page in the book.
"""

LEFT_OUT = {
    "part2_tools/4.1_json_schema_mapping.ipynb": (
        "llguidance, the library that computes its token masks, has no build for the browser"
    ),
    "part3_memory/6.3_freya_session_manager.ipynb": (
        "it starts processes and kills them, and a page has none"
    ),
    "part4_streaming/10.1_where_the_time_goes.ipynb": (
        "it counts calls, and Python in a page forgets who counts as soon as a cell waits"
    ),
}
