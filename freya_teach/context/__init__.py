"""Plans what still fits: pure functions from numbered messages to a plan. (chapter 7.3)"""
