"""A folder of tables in Ray Data, here on one machine: with the address of a cluster, the rest is the same."""

import json
import logging
import re
import sys

import pyarrow
import ray
import retold
from pyarrow import compute
from ray.data.aggregate import Count, Sum

folder, flips = sys.argv[1:]
ray.init(num_cpus=2, include_dashboard=False, logging_level="warning")
logging.getLogger("ray.data").setLevel("WARNING")
ray.data.DataContext.get_current().enable_progress_bars = False
exchanges = ray.data.read_parquet(f"{folder}/exchanges")
decisions = ray.data.read_parquet(f"{folder}/decisions")


def counted(batch: pyarrow.Table) -> pyarrow.Table:
    """Each exchange as 1 where it was answered, and where it failed."""
    for status in ["answered", "failed"]:
        batch = batch.append_column(status, compute.equal(batch["status"], status).cast(pyarrow.int64()))
    return batch


def paid(batch: pyarrow.Table) -> pyarrow.Table:
    """Answers that were used again cost nothing: their tokens are not summed."""
    return batch.filter(compute.field("reused_from").is_null())


def contributions(batch: pyarrow.Table) -> pyarrow.Table:
    return batch.filter((compute.field("name") == "contribution") & compute.field("in_force"))


def found_in_the_answer(batch: pyarrow.Table) -> pyarrow.Table:
    """Where a parser found nothing and took its last resort, the value says nothing about the answer."""
    return batch.filter(compute.field("method") != "default")


def last_number(answer: str) -> float | None:
    """A parser of one's own."""
    numbers = re.findall(r"\d+", answer)
    return float(numbers[-1]) if numbers else None


def flipped(batch: pyarrow.Table) -> pyarrow.Table:
    """The first version of retold's parser, and our own, on whatever batches of answers come to a worker."""
    answers = batch["answer"].to_pylist()
    first = [one.value for one in retold.parse("contribution@1", answers)]
    ours = [last_number(answer) for answer in answers]
    batch = batch.drop(["answer", "answer_seq"]).rename_columns({"number": "recorded"})
    batch = batch.append_column("first_version", pyarrow.array(first, pyarrow.float64()))
    batch = batch.append_column("last_number", pyarrow.array(ours, pyarrow.float64()))
    # A flip is a value that is not the recorded one.
    values = zip(batch["recorded"].to_pylist(), first, ours)
    return batch.filter(pyarrow.array([before != one or before != other for before, one, other in values], pyarrow.bool_()))


def on_arrow(data: ray.data.Dataset, function) -> ray.data.Dataset:
    return data.map_batches(function, batch_format="pyarrow")


# What there is of each run and stage. In a study that compares conditions, the label is `condition`.
statuses = on_arrow(exchanges.select_columns(["run", "stage", "status"]), counted)
asked = statuses.groupby(["run", "stage"]).aggregate(Sum("answered"), Sum("failed")).take_all()
decided = {(row["run"], row["stage"]): row["count()"] for row in decisions.groupby(["run", "stage"]).count().take_all()}
counts = [
    [row["run"], row["stage"], row["sum(answered)"], row["sum(failed)"], decided.get((row["run"], row["stage"]), 0)]
    for row in sorted(asked, key=lambda row: (row["run"], row["stage"]))
]

tokens = on_arrow(exchanges, paid).aggregate(Sum("prompt_tokens"), Sum("completion_tokens"))
chosen = on_arrow(decisions, contributions)
values = on_arrow(chosen, found_in_the_answer).aggregate(Count("number"), Sum("number"))
recorded = chosen.select_columns(["run", "call", "answer_seq", "number"])
answers = exchanges.select_columns(["run", "call", "answer_seq", "answer"])
joined = recorded.join(answers, join_type="inner", num_partitions=2, on=("run", "call", "answer_seq"))
on_arrow(joined, flipped).write_parquet(flips)

found = {
    "runs": len({row[0] for row in counts}),
    "answers": sum(row[2] for row in counts),
    "prompt_tokens": tokens["sum(prompt_tokens)"],
    "completion_tokens": tokens["sum(completion_tokens)"],
    "values": values["count(number)"],
    "sum": values["sum(number)"],
    "counts": counts,
}
print(json.dumps(found))
