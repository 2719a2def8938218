#!/usr/bin/env python3
"""An example of your own parser, which can be written in any language:

    retold check --text answer.txt --parser-cmd examples/filters/after_answer.py

The value is the text after the last `Answer:`, up to an equals sign or the end of the line. The text
before it is the reasoning.
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
