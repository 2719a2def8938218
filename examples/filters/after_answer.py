#!/usr/bin/env python3
"""A parser of your own for `retold parse` and `retold check`, in any language: --parser-cmd examples/filters/after_answer.py

It takes what follows the last `Answer:` up to the end of the line, and what is before it as the reasoning.
"""
import json
import sys

for line in sys.stdin:
    reasoning, marker, answer = json.loads(line)["text"].rpartition("Answer:")
    if marker:
        value = answer.split("\n")[0].split("=")[0].strip()
        decision = {"value": value, "method": "after_answer", "reasoning": reasoning.strip()}
    else:
        decision = {"value": "", "method": "none", "warnings": ["there is no `Answer:`"]}
    print(json.dumps(decision))
