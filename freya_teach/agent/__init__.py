"""Decides what happens next. Knows nothing of HTTP, files and printing. (chapter 2.3)"""
