"""What the program computes, from Python: its own JSON."""

from __future__ import annotations

import json
import subprocess

import openai
import pytest

import retold
from retold._program import program


@pytest.fixture
def study(model, log) -> str:
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")

    def ask(run, place: str) -> None:
        for person in range(20):
            text = f"You are person {person}, aged {20 + person}. Shall the town build a {place}? Say yes or no."
            with run.call("vote", participant=f"p{person}", condition="plain" if person % 2 else "warm"):
                client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
                run.decide("vote", "yes" if person % 3 else "no")

    with retold.record(log, "one") as run:
        ask(run, "library")
    with retold.fork(log, "one", "two") as run:
        ask(run, "swimming pool")
    return log


def told(log: str, *arguments: str) -> dict:
    done = subprocess.run([program(), "--log", log, *arguments, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout)


def test_a_figure_is_what_the_program_computes(study):
    read = retold.open(study)
    figure = read.figure("share of vote = yes by condition", "one")
    assert figure == told(study, "stats", "one", "--figure", "share of vote = yes by condition")["figures"][0]
    assert [group["group"] for group in figure["groups"]] == [["plain"], ["warm"]]
    picture = figure.svg()
    assert picture.startswith("<svg") and "share of vote = yes by condition" in picture
    assert figure._repr_html_() == picture
    both = read.figure("share of vote = yes", ["one", "two"])
    assert both["differences"][0]["difference"] == 0
    with pytest.raises(retold.RetoldError, match="share off"):
        read.figure("share off vote", "one")


def test_a_difference_names_each_change_of_a_prompt_once(study):
    read = retold.open(study)
    diff = read.diff("one", "two")
    (change,) = diff["changes"]
    words = [(piece["change"], piece["text"]) for piece in change["words"] if piece["change"] != "same"]
    assert (change["calls"], words) == (20, [("removed", "library?"), ("added", "swimming pool?")])
    assert read.diff("one", "one")["identical"]
    with pytest.raises(retold.RetoldError, match="three"):
        read.diff("one", "three")


def test_a_report_is_written_and_agreement_is_computed(study, tmp_path):
    read = retold.open(study)
    path = tmp_path / "report.html"
    for _ in range(2):
        assert read.report(path, ["one", "two"], figures="share of vote = yes") == str(path)
    assert "<html" in path.read_text()
    run = read.run("one")
    run.check(lambda answer: "yes", name="other").accept()
    assert read.agreement("vote", "other", run="one") == told(study, "score", "agreement", "one", "vote", "other")
    agreement = read.agreement("vote", "other", run="one")
    assert agreement._repr_html_().startswith("<svg") and "answers" in agreement.svg()
    with pytest.raises(retold.RetoldError):
        read.agreement("nothing", run="one")
