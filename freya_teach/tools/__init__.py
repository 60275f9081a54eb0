"""From a tool call to an observation. Knows nothing of models and sessions. (chapter 4.3)"""
