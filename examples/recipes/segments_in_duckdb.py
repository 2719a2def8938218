"""The log itself in DuckDB, without tables: each segment is a file of compressed JSON Lines."""

import json
import sys

import duckdb

log = sys.argv[1]
# Lines that are events have a kind; the others are contents and the ends of segments.
events = duckdb.read_json(f"{log}/runs/*/*.jsonl.zst", format="newline_delimited", columns={"run": "VARCHAR", "kind": "VARCHAR"})
found = dict(duckdb.sql("SELECT kind, count(*) FROM events WHERE kind IS NOT NULL GROUP BY kind").fetchall())
answers = found.get("ResponseReceived", 0) + found.get("AnswerReused", 0)
print(json.dumps({"answers": answers, "decisions": found.get("DecisionMade", 0)}))
