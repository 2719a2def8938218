"""A folder of tables in Spark, here in local mode: with the address of a cluster, the rest is the same."""

import json
import os
import re
import sys
from collections.abc import Iterator

import pyarrow
import retold
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

folder, flips = sys.argv[1:]
# The Python of the workers, which needs the package as well.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
exchanges = spark.read.parquet(f"{folder}/exchanges")
decisions = spark.read.parquet(f"{folder}/decisions")

# Answers that were used again cost nothing: their tokens are not summed.
paid = f.col("reused_from").isNull()
totals = exchanges.agg(
    f.count_distinct("run").alias("runs"),
    f.count_if(f.col("status") == "answered").alias("answers"),
    f.sum(f.when(paid, f.col("prompt_tokens"))).alias("prompt_tokens"),
    f.sum(f.when(paid, f.col("completion_tokens"))).alias("completion_tokens"),
)
contributions = decisions.where((f.col("name") == "contribution") & f.col("in_force"))
# Where a parser found nothing and took its last resort, the value says nothing about the answer.
sums = contributions.where("method <> 'default'").agg(f.count("number").alias("values"), f.sum("number").alias("sum"))
# What there is of each run and stage. In a study that compares conditions, the label is `condition`.
decided = decisions.select("run", "answer_seq", f.col("seq").alias("decision"))
counts = (
    exchanges.join(decided, ["run", "answer_seq"], "left")
    .groupBy("run", "stage")
    .agg(f.count_if(f.col("status") == "answered"), f.count_if(f.col("status") == "failed"), f.count("decision"))
    .orderBy("run", "stage")
)


def last_number(answer: str) -> float | None:
    """A parser of one's own."""
    numbers = re.findall(r"\d+", answer)
    return float(numbers[-1]) if numbers else None


def parsed_again(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The first version of retold's parser, and our own, on whatever batches of answers come to a worker."""
    for batch in batches:
        answers = batch["answer"].to_pylist()
        first = pyarrow.array([one.value for one in retold.parse("contribution@1", answers)], pyarrow.float64())
        ours = pyarrow.array([last_number(answer) for answer in answers], pyarrow.float64())
        columns = {"run": batch["run"], "call": batch["call"], "recorded": batch["number"], "first_version": first, "last_number": ours}
        yield pyarrow.RecordBatch.from_pydict(columns)


# A flip is a value that is not the recorded one.
recorded = contributions.join(exchanges, ["run", "call", "answer_seq"]).select("run", "call", "number", "answer")
again = recorded.mapInArrow(parsed_again, "run string, call string, recorded double, first_version double, last_number double")
again.where("NOT (recorded <=> first_version AND recorded <=> last_number)").write.parquet(flips)

found = {**totals.first().asDict(), **sums.first().asDict(), "counts": [list(row) for row in counts.collect()]}
print(json.dumps(found))
