"""A study of three people, and the parser that reads their votes."""

from __future__ import annotations

import re

import openai
import retold

client = openai.OpenAI()
PEOPLE = ["Ada", "Ben", "Cleo"]


def vote(text: str) -> str | None:
    """The last yes or no of an answer."""
    found = re.findall(r"\b(yes|no)\b", text.lower())
    return found[-1] if found else None


def study(run: retold.Run) -> dict[str, str | None]:
    """What each of them decides."""
    decisions = {}
    for person in PEOPLE:
        with run.call("vote", participant=person):
            question = f"You are {person}. Does the town need a new library? Think aloud, and end with yes or no."
            messages = [{"role": "user", "content": question}]
            answer = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
            decisions[person] = vote(answer.choices[0].message.content)
            run.decide("vote", decisions[person], method="last word")
    return decisions
