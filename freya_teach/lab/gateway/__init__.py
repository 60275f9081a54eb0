"""A fake of both providers: what is asked is understood, a policy answers, the answer is encoded. (chapter 5.1)"""
