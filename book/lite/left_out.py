"""Notebooks that the browser edition cannot hold, each with its reason."""

LEFT_OUT = {
    "part2_tools/4.1_json_schema_mapping.ipynb": "llguidance has no wheel for Pyodide",
    "part3_memory/6.3_freya_session_manager.ipynb": "it kills processes, and a page has none",
}
