"""A folder of tables in Ray Data, here on one machine: with the address of a cluster, the rest is the same."""

import json
import logging
import sys

import pyarrow
import ray
import retold
from pyarrow import compute
from ray.data.aggregate import Count, Sum

folder = sys.argv[1]
ray.init(num_cpus=2, include_dashboard=False, logging_level="warning")
logging.getLogger("ray.data").setLevel("WARNING")
ray.data.DataContext.get_current().enable_progress_bars = False
exchanges = ray.data.read_parquet(f"{folder}/exchanges")
decisions = ray.data.read_parquet(f"{folder}/decisions")


def answered(batch: pyarrow.Table) -> pyarrow.Table:
    return batch.filter(compute.field("status") == "answered")


def paid(batch: pyarrow.Table) -> pyarrow.Table:
    """Answers that were used again cost nothing: their tokens are not summed."""
    return batch.filter(compute.field("reused_from").is_null())


def contributions(batch: pyarrow.Table) -> pyarrow.Table:
    return batch.filter((compute.field("name") == "contribution") & compute.field("in_force"))


def found_in_the_answer(batch: pyarrow.Table) -> pyarrow.Table:
    """Where a parser found nothing and took its last resort, the value says nothing about the answer."""
    return batch.filter(compute.field("method") != "default")


def parsed_again(batch: pyarrow.Table) -> pyarrow.Table:
    """The first version of the parser, on whatever batches of answers come to a worker."""
    parsed = retold.parse("contribution@1", batch["answer"].to_pylist())
    after = pyarrow.array([one.value for one in parsed], pyarrow.float64())
    return pyarrow.table({"flips": compute.not_equal(batch["number"], after).cast(pyarrow.int64())})


def on_arrow(data: ray.data.Dataset, function) -> ray.data.Dataset:
    return data.map_batches(function, batch_format="pyarrow")


tokens = on_arrow(exchanges, paid).aggregate(Sum("prompt_tokens"), Sum("completion_tokens"))
chosen = on_arrow(decisions, contributions)
values = on_arrow(chosen, found_in_the_answer).aggregate(Count("number"), Sum("number"))
asked = chosen.select_columns(["run", "answer_seq", "number"])
answers = exchanges.select_columns(["run", "answer_seq", "answer"])
recorded = asked.join(answers, join_type="inner", num_partitions=2, on=("run", "answer_seq"))

found = {
    "runs": len(exchanges.unique("run")),
    "answers": on_arrow(exchanges, answered).count(),
    "prompt_tokens": tokens["sum(prompt_tokens)"],
    "completion_tokens": tokens["sum(completion_tokens)"],
    "values": values["count(number)"],
    "sum": values["sum(number)"],
    "flips": on_arrow(recorded, parsed_again).sum("flips"),
}
print(json.dumps(found))
