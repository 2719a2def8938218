"""Tables of a log in the libraries that people analyse with."""

import json
import subprocess
from pathlib import Path

import duckdb
import openai
import pandas
import polars
import pyarrow
import pytest
import retold


@pytest.fixture
def study(log, model):
    """Two runs: 20 votes in two conditions, and one call without labels."""
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")

    def ask(text):
        return client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])

    with retold.record(log, name="votes") as run:
        for number in range(20):
            condition = "treated" if number % 2 else "control"
            with run.call("vote", participant=f"p{number}", condition=condition):
                ask(f"yes or no, {number}?")
                run.decide("vote", "yes" if number % 3 else "no")
    with retold.record(log, name="other"):
        ask("anything")
    return log


def test_the_libraries_agree(study):
    exchanges = retold.open(study).exchanges("votes")
    frames = polars.DataFrame(exchanges), pandas.DataFrame(exchanges), pyarrow.table(exchanges)
    by_polars, by_pandas, by_pyarrow = frames
    assert len(by_polars) == len(by_pandas) == len(by_pyarrow) == len(exchanges) == 20
    tokens = sum(row["prompt_tokens"] for row in exchanges)
    assert by_polars["prompt_tokens"].sum() == by_pandas["prompt_tokens"].sum() == tokens > 0
    assert str(by_polars["time"].dtype) == "Datetime(time_unit='ms', time_zone='UTC')"
    by_duckdb = duckdb.sql("SELECT condition, count(*), sum(prompt_tokens) FROM by_pyarrow GROUP BY ALL ORDER BY ALL").fetchall()
    assert [(condition, count) for condition, count, _ in by_duckdb] == [("control", 10), ("treated", 10)]
    assert sum(row[2] for row in by_duckdb) == tokens


def test_decisions_by_condition(study):
    votes = polars.DataFrame(retold.open(study).decisions("votes"))
    said = votes.group_by("condition").agg(yes=(polars.col("text") == "yes").mean()).sort("condition")
    assert said.rows() == [("control", 0.6), ("treated", 0.7)]


def test_several_runs_have_the_same_columns(study):
    log = retold.open(study)
    both = polars.DataFrame(log.exchanges(["votes", "other"]))
    assert len(both) == 21 and both["participant"].null_count() == 1
    assert [row["name"] for row in log.runs()] == ["votes", "other"]


def test_a_table_is_of_the_run_that_was_the_latest_when_it_was_made(study, model):
    table = retold.open(study).exchanges()
    with retold.record(study, name="newer"):
        pass
    assert len(table) == 1 and len(retold.open(study).exchanges()) == 0


def test_prompts_are_read_on_request(study):
    log = retold.open(study)
    assert "question" not in log.exchanges("votes")[0]
    asked = log.exchanges("votes", prompts=True)[3]
    assert asked["question"] == "yes or no, 3?" and asked["request"]["messages"][0]["role"] == "user"
    contents = {row["content"]: row["text"] for row in log.contents("votes")}
    assert [contents[hash] for hash in asked["new_messages"]] == ["yes or no, 3?"]


def test_a_folder_of_runs_is_read_as_one(study, tmp_path):
    from retold._program import program

    folder = tmp_path / "tables"
    subprocess.run([program(), "--log", study, "table", "--all", "--to", folder, "--quiet"], check=True)
    exchanges = folder / "exchanges"
    frame = pandas.read_parquet(exchanges)
    scanned = polars.scan_parquet(f"{exchanges}/*.parquet").collect()
    (by_duckdb,) = duckdb.sql(f"SELECT count(*), sum(completion_tokens), count(DISTINCT run) FROM '{exchanges}/*.parquet'").fetchall()
    assert by_duckdb == (21, frame["completion_tokens"].sum(), 2)
    assert (len(scanned), scanned["completion_tokens"].sum(), scanned["run"].n_unique()) == by_duckdb


def test_a_run_of_a_study_has_the_name_of_its_folder(log):
    from retold._program import program

    config = Path(__file__).parents[2] / "config" / "public_goods_small.yaml"
    record = [program(), "--log", log, "run", config, "--quiet", "--no-outputs", "--set", "games=2"]
    subprocess.run(record, check=True, stdout=subprocess.DEVNULL)
    study = retold.open(log)
    assert [row["name"] for row in study.runs()] == ["public_goods_small"]
    assert len(study.decisions("public_goods_small")) == len(study.decisions()) > 0


def test_a_run_that_there_is_not(study):
    with pytest.raises(ValueError, match="nobody"):
        retold.open(study).exchanges("nobody")


def test_a_log_in_a_folder_is_named_by_its_url(tmp_path, model):
    log = f"file://{tmp_path}/lab"
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log, name="votes") as run:
        with run.call("vote", participant="ada"):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "yes or no?"}])
            run.decide("vote", "yes")
    assert [row["participant"] for row in retold.open(log).exchanges("votes")] == ["ada"]
    assert [row["text"] for row in retold.open(log).decisions("votes")] == ["yes"]
    assert (tmp_path / "lab" / "retold.json").exists()


def maybe(answer: retold.Answer) -> str:
    """Nobody knows."""
    return "maybe"


def length(answer: retold.Answer) -> int:
    """A second name beside the vote."""
    return len(answer)


def test_what_is_in_force_is_the_same_here_in_parquet_and_in_the_command(study, tmp_path):
    from retold._program import program

    log = retold.open(study)
    for function, name in (maybe, "vote"), (length, "length"):
        log.run("votes").check(function, name=name).accept()
    labels = "".join(f"{row['call']},polite\n" for row in log.exchanges("votes"))
    (tmp_path / "ada.csv").write_text("call,value\n" + labels)

    def run(*arguments):
        return subprocess.run([program(), "--log", study, *arguments], check=True, capture_output=True).stdout

    run("score", "label", "votes", "--by", "ada", "--from", tmp_path / "ada.csv")
    here = sorted((row["call"], row["name"], json.dumps(row["value"])) for row in log.decisions("votes"))
    assert {value for _, name, value in here if name == "vote"} == {'"maybe"'} and len(here) == 60
    run("table", "votes", "--to", tmp_path / "tables")
    rows = polars.read_parquet(tmp_path / "tables" / "decisions" / "*.parquet").select("call", "name", "value").rows()
    assert sorted(rows) == here
    audited = []
    for row in log.exchanges("votes"):
        audit = json.loads(run("audit", "votes", row["call"], "--json"))
        audited += [(row["call"], it["name"], json.dumps(it["value"])) for it in audit["in_force"]]
    assert sorted(audited) == here
