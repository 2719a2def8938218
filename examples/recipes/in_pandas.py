"""A folder of tables in pandas, which holds the columns that it reads in memory."""

import json
import sys

import pandas
import retold

folder = sys.argv[1]
columns = ["run", "answer_seq", "status", "reused_from", "prompt_tokens", "completion_tokens", "answer"]
exchanges = pandas.read_parquet(f"{folder}/exchanges", columns=columns)
decisions = pandas.read_parquet(f"{folder}/decisions")

# Answers that were used again cost nothing: their tokens are not summed.
paid = exchanges[exchanges.reused_from.isna()]
contributions = decisions[(decisions.name == "contribution") & decisions.in_force]
# Where a parser found nothing and took its last resort, the value says nothing about the answer.
values = contributions[contributions.method != "default"]

# The recorded answers, parsed again with the first version of the parser.
recorded = contributions.merge(exchanges, on=["run", "answer_seq"])
parsed = retold.parse("contribution@1", recorded.answer.tolist())
flips = sum(one.value != number for one, number in zip(parsed, recorded.number))

found = {
    "runs": exchanges.run.nunique(),
    "answers": (exchanges.status == "answered").sum(),
    "prompt_tokens": paid.prompt_tokens.sum(),
    "completion_tokens": paid.completion_tokens.sum(),
    "values": len(values),
    "sum": values.number.sum(),
    "flips": flips,
}
print(json.dumps(found, default=float))
