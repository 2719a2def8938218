"""300 votes in two conditions, kept in a dict that is a file, and analysed with pandas and scipy."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai
import pandas
from scipy.stats import bootstrap, permutation_test

client = openai.OpenAI()
CONDITIONS = {"plain": "", "reason": "Reading scores have fallen for ten years. "}
kept = Path("cache.json")
cache = json.loads(kept.read_text()) if kept.exists() else {}


def ask(condition, person):
    question = f"You are voter {person}. {CONDITIONS[condition]}Should the town build a library? Say yes or no."
    if question not in cache:
        messages = [{"role": "user", "content": question}]
        completion = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
        cache[question] = completion.choices[0].message.content
    return {"participant": person, "condition": condition, "vote": float("yes" in cache[question].lower())}


with ThreadPoolExecutor(10) as pool:
    rows = list(pool.map(lambda who: ask(*who), [(c, f"{c}-{n}") for c in CONDITIONS for n in range(150)]))
kept.write_text(json.dumps(cache))

votes = pandas.DataFrame(rows)
print(votes)

groups = votes.groupby("condition").vote
plain, reason = (groups.get_group(name).to_numpy() for name in ["plain", "reason"])
print(groups.agg(["count", "mean"]))


def difference(a, b, axis=-1):
    return a.mean(axis) - b.mean(axis)


interval = bootstrap((reason, plain), difference, method="percentile", rng=1).confidence_interval
p = permutation_test((reason, plain), difference, rng=1).pvalue
print(f"reason minus plain: {difference(reason, plain):.4f} [{interval.low:.4f}, {interval.high:.4f}], p = {p:.4f}")
