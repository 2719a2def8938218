"""A folder of tables in Spark, here in local mode: with the address of a cluster, the rest is the same."""

import json
import os
import sys
from collections.abc import Iterator

import pyarrow
import retold
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

folder = sys.argv[1]
# The Python of the workers, which needs the package as well.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
exchanges = spark.read.parquet(f"{folder}/exchanges")
decisions = spark.read.parquet(f"{folder}/decisions")

# Answers that were used again cost nothing: their tokens are not summed.
paid = f.col("reused_from").isNull()
counts = exchanges.agg(
    f.count_distinct("run").alias("runs"),
    f.count_if(f.col("status") == "answered").alias("answers"),
    f.sum(f.when(paid, f.col("prompt_tokens"))).alias("prompt_tokens"),
    f.sum(f.when(paid, f.col("completion_tokens"))).alias("completion_tokens"),
)
contributions = decisions.where((f.col("name") == "contribution") & f.col("in_force"))
# Where a parser found nothing and took its last resort, the value says nothing about the answer.
sums = contributions.where("method <> 'default'").agg(f.count("number").alias("values"), f.sum("number").alias("sum"))


def parsed_again(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The first version of the parser, on whatever batches of answers come to a worker."""
    for batch in batches:
        parsed = retold.parse("contribution@1", batch["answer"].to_pylist())
        after = pyarrow.array([one.value for one in parsed], pyarrow.float64())
        yield pyarrow.RecordBatch.from_arrays([batch["number"], after], ["before", "after"])


recorded = contributions.join(exchanges, ["run", "answer_seq"]).select("answer", "number")
flips = recorded.mapInArrow(parsed_again, "before double, after double").where("before <> after").count()

print(json.dumps({**counts.first().asDict(), **sums.first().asDict(), "flips": flips}))
