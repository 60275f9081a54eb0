"""Notebooks that the browser edition cannot hold, each with its reason."""

LEFT_OUT = {
    "part2_tools/4.1_json_schema_mapping.ipynb": "llguidance has no wheel for Pyodide",
}
