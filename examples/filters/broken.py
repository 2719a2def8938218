#!/usr/bin/env python3
"""A parser that is broken on purpose: it decides for the first number in the text."""
import json
import re
import sys

for line in sys.stdin:
    found = re.search(r"\d+", json.loads(line)["text"])
    print(json.dumps({"value": found.group() if found else "", "method": "first_number"}))
