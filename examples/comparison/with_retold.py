"""300 votes in two conditions, recorded by retold."""

from concurrent.futures import ThreadPoolExecutor

import openai
import retold

client = openai.OpenAI()
CONDITIONS = {"plain": "", "reason": "Reading scores have fallen for ten years. "}


def ask(run, condition, person):
    question = f"You are voter {person}. {CONDITIONS[condition]}Should the town build a library? Say yes or no."
    with run.call("vote", participant=person, condition=condition):
        messages = [{"role": "user", "content": question}]
        answer = client.chat.completions.create(model="gpt-4o-mini", messages=messages).choices[0].message.content
        run.decide("vote", "yes" if "yes" in answer.lower() else "no")


with retold.record("study.db", name="library") as run, ThreadPoolExecutor(10) as pool:
    list(pool.map(lambda who: ask(run, *who), [(c, f"{c}-{n}") for c in CONDITIONS for n in range(150)]))
