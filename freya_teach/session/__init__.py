"""Keeps histories safe, on disk and in memory. (chapter 6.1)"""
