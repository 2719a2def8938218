"""A fake upstream that speaks the APIs of the providers, and refuses what they refuse.

Answers are made up and numbered, so that samples of one prompt can be told apart. Words in a prompt make the server fail:
`failures.py` lists them. What a dialect refuses has its source beside the rule.
"""
