"""A folder of tables in Polars: lazy frames, which read only the columns that are used."""

import json
import sys

import polars
import retold
from polars import col

folder = sys.argv[1]
exchanges = polars.scan_parquet(f"{folder}/exchanges/*.parquet")
decisions = polars.scan_parquet(f"{folder}/decisions/*.parquet")

# Answers that were used again cost nothing: their tokens are not summed.
paid = col("reused_from").is_null()
counts = exchanges.select(
    runs=col("run").n_unique(),
    answers=(col("status") == "answered").sum(),
    prompt_tokens=col("prompt_tokens").filter(paid).sum(),
    completion_tokens=col("completion_tokens").filter(paid).sum(),
)
contributions = decisions.filter(col("name") == "contribution", col("in_force"))
# Where a parser found nothing and took its last resort, the value says nothing about the answer.
sums = contributions.filter(col("method") != "default").select(values=polars.len(), sum=col("number").sum())

# The recorded answers, parsed again with the first version of the parser.
recorded = contributions.join(exchanges, on=["run", "answer_seq"]).select("answer", "number").collect()
parsed = retold.parse("contribution@1", recorded["answer"].to_list())
flips = sum(one.value != number for one, number in zip(parsed, recorded["number"]))

print(json.dumps({**counts.collect().to_dicts()[0], **sums.collect().to_dicts()[0], "flips": flips}))
