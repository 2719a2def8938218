"""A folder of tables in DuckDB: SQL over the Parquet files of all runs."""

import json
import sys

import duckdb
import retold

folder = sys.argv[1]
database = duckdb.connect()
for name in ["exchanges", "decisions"]:
    database.sql(f"CREATE VIEW {name} AS FROM read_parquet('{folder}/{name}/*.parquet')")

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

# The recorded answers, parsed again with the first version of the parser.
recorded = database.sql("""
    SELECT answer, number FROM decisions JOIN exchanges USING (run, answer_seq)
    WHERE decisions.name = 'contribution' AND in_force
""").fetchall()
parsed = retold.parse("contribution@1", [answer for answer, _ in recorded])
flips = sum(one.value != number for one, (_, number) in zip(parsed, recorded))

found = {"runs": runs, "answers": answers, "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
print(json.dumps({**found, "values": values, "sum": total, "flips": flips}, default=int))
