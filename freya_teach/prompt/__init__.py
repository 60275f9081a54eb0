"""From text files to one system prompt. (chapter 3.2)"""
