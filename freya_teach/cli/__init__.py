"""The `freya-teach` command, one module per verb; needs the `course` extra. (start)"""
