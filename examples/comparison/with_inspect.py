"""300 votes in two conditions, as an eval of Inspect AI."""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import pattern

CONDITIONS = {"plain": "", "reason": "Reading scores have fallen for ten years. "}


def sample(condition, person):
    question = f"You are voter {person}. {CONDITIONS[condition]}Should the town build a library? Say yes or no."
    return Sample(input=question, target="yes", id=person, metadata={"condition": condition})


@task
def library():
    dataset = [sample(c, f"{c}-{n}") for c in CONDITIONS for n in range(150)]
    return Task(dataset=dataset, scorer=pattern(r"\b(yes|no)\b"))
