"""Neutral messages to a provider's bytes and back; no tool is run here. (chapter 5.3)"""
