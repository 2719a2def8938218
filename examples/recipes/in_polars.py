"""A folder of tables in Polars, here or in a bucket: lazy frames, which read only the columns that are used."""

import json
import re
import sys

import polars
import retold
from polars import col

folder, flips = sys.argv[1:]
exchanges = polars.scan_parquet(f"{folder}/exchanges/*.parquet")
decisions = polars.scan_parquet(f"{folder}/decisions/*.parquet")

# Answers that were used again cost nothing: their tokens are not summed.
paid = col("reused_from").is_null()
totals = exchanges.select(
    runs=col("run").n_unique(),
    answers=(col("status") == "answered").sum(),
    prompt_tokens=col("prompt_tokens").filter(paid).sum(),
    completion_tokens=col("completion_tokens").filter(paid).sum(),
)
contributions = decisions.filter(col("name") == "contribution", col("in_force"))
# Where a parser found nothing and took its last resort, the value says nothing about the answer.
sums = contributions.filter(col("method") != "default").select(values=polars.len(), sum=col("number").sum())
# What there is of each run and stage. In a study that compares conditions, the label is `condition`.
decided = decisions.select("run", "answer_seq", decision="seq")
counts = (
    exchanges.join(decided, on=["run", "answer_seq"], how="left")
    .group_by("run", "stage")
    .agg(
        answered=(col("status") == "answered").sum(),
        failed=(col("status") == "failed").sum(),
        decisions=col("decision").count(),
    )
    .sort("run", "stage")
)


def last_number(answer: str) -> float | None:
    """A parser of one's own."""
    numbers = re.findall(r"\d+", answer)
    return float(numbers[-1]) if numbers else None


# The recorded answers, parsed again: with the first version of retold's parser, and with our own. A flip is a value that is
# not the recorded one.
recorded = contributions.join(exchanges, on=["run", "call", "answer_seq"]).select("run", "call", "answer", recorded="number").collect()
again = recorded.with_columns(
    first_version=polars.Series([one.value for one in retold.parse("contribution@1", recorded["answer"].to_list())], dtype=polars.Float64),
    last_number=polars.Series([last_number(answer) for answer in recorded["answer"]], dtype=polars.Float64),
)
flipped = col("recorded").ne_missing(col("first_version")) | col("recorded").ne_missing(col("last_number"))
again.filter(flipped).drop("answer").write_parquet(flips)

found = {**totals.collect().to_dicts()[0], **sums.collect().to_dicts()[0], "counts": counts.collect().rows()}
print(json.dumps(found))
