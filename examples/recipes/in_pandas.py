"""A folder of tables in pandas, here or in a bucket. It holds the columns that it reads in memory."""

import json
import re
import sys

import pandas
import retold

folder, flips = sys.argv[1:]
columns = ["run", "call", "stage", "answer_seq", "status", "reused_from", "prompt_tokens", "completion_tokens", "answer"]
exchanges = pandas.read_parquet(f"{folder}/exchanges", columns=columns)
decisions = pandas.read_parquet(f"{folder}/decisions")

# Answers that were used again cost nothing: their tokens are not summed.
paid = exchanges[exchanges.reused_from.isna()]
contributions = decisions[(decisions.name == "contribution") & decisions.in_force]
# Where a parser found nothing and took its last resort, the value says nothing about the answer.
values = contributions[contributions.method != "default"]
# What there is of each run and stage. In a study that compares conditions, the label is `condition`.
decided = decisions[["run", "answer_seq", "seq"]].rename(columns={"seq": "decision"})
joined = exchanges.merge(decided, how="left", on=["run", "answer_seq"])
joined["answered"], joined["failed"] = joined.status == "answered", joined.status == "failed"
counts = joined.groupby(["run", "stage"]).agg({"answered": "sum", "failed": "sum", "decision": "count"})


def last_number(answer: str) -> float | None:
    """A parser of one's own."""
    numbers = re.findall(r"\d+", answer)
    return float(numbers[-1]) if numbers else None


# The recorded answers, parsed again: with the first version of retold's parser, and with our own. A flip is a value that is
# not the recorded one.
recorded = contributions.merge(exchanges, on=["run", "call", "answer_seq"]).rename(columns={"number": "recorded"})
recorded["first_version"] = pandas.array([one.value for one in retold.parse("contribution@1", recorded.answer.tolist())], "Float64")
recorded["last_number"] = pandas.array([last_number(answer) for answer in recorded.answer], "Float64")
again = recorded[["run", "call", "recorded", "first_version", "last_number"]]
no_value = -1.0
flipped = again[["first_version", "last_number"]].fillna(no_value).ne(again.recorded.fillna(no_value), axis=0)
again[flipped.any(axis=1)].to_parquet(flips, index=False)

found = {
    "runs": exchanges.run.nunique(),
    "answers": (exchanges.status == "answered").sum(),
    "prompt_tokens": paid.prompt_tokens.sum(),
    "completion_tokens": paid.completion_tokens.sum(),
    "values": len(values),
    "sum": values.number.sum(),
    "counts": counts.reset_index().values.tolist(),
}
print(json.dumps(found, default=float))
