"""A folder of tables in DuckDB, here or in a bucket: SQL over the Parquet files of all runs."""

import json
import re
import sys

import duckdb
import pyarrow
import retold
from pyarrow import dataset

folder, flips = sys.argv[1:]
database = duckdb.connect()
for name in ["exchanges", "decisions"]:
    # With DuckDB's extension httpfs, read_parquet('s3://..') reads a bucket as well.
    database.register(name, dataset.dataset(f"{folder}/{name}"))

# Answers that were used again cost nothing: their tokens are not summed.
((runs, answers, prompt_tokens, completion_tokens),) = database.sql("""
    SELECT count(DISTINCT run), count(*) FILTER (status = 'answered'),
           sum(prompt_tokens) FILTER (reused_from IS NULL), sum(completion_tokens) FILTER (reused_from IS NULL)
    FROM exchanges
""").fetchall()
# Where a parser found nothing and took its last resort, the value says nothing about the answer.
((values, total),) = database.sql("""
    SELECT count(*), sum(number) FROM decisions
    WHERE name = 'contribution' AND in_force AND method <> 'default'
""").fetchall()
# What there is of each run and stage. In a study that compares conditions, the label is `condition`.
counts = database.sql("""
    SELECT run, stage, count(*) FILTER (status = 'answered'), count(*) FILTER (status = 'failed'), count(decisions.seq)
    FROM exchanges LEFT JOIN decisions USING (run, stage, answer_seq)
    GROUP BY run, stage ORDER BY run, stage
""").fetchall()


def first_version(answers: pyarrow.Array) -> pyarrow.Array:
    """The first version of retold's parser, on whatever batches of answers DuckDB makes."""
    parsed = retold.parse("contribution@1", answers.to_pylist())
    return pyarrow.array([one.value for one in parsed], pyarrow.float64())


def last_number(answers: pyarrow.Array) -> pyarrow.Array:
    """A parser of one's own."""
    found = [re.findall(r"\d+", answer) for answer in answers.to_pylist()]
    return pyarrow.array([float(numbers[-1]) if numbers else None for numbers in found], pyarrow.float64())


# The recorded answers, parsed again. A flip is a value that is not the recorded one.
for parser in [first_version, last_number]:
    database.create_function(parser.__name__, parser, ["VARCHAR"], "DOUBLE", type="arrow", null_handling="special")
database.sql(f"""
    COPY (
        SELECT run, call, number AS recorded, first_version(answer) AS first_version, last_number(answer) AS last_number
        FROM decisions JOIN exchanges USING (run, call, answer_seq)
        WHERE decisions.name = 'contribution' AND in_force
          AND (recorded IS DISTINCT FROM first_version OR recorded IS DISTINCT FROM last_number)
    ) TO '{flips}' (FORMAT parquet)
""")

found = {"runs": runs, "answers": answers, "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
print(json.dumps({**found, "values": values, "sum": total, "counts": counts}, default=int))
