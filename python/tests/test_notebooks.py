"""What a notebook shows."""

from __future__ import annotations

import pickle

import openai
import pytest

import retold
from retold._html import table


def test_tables_and_runs_are_shown_with_their_first_rows_inert():
    rows = [{"call": "a", "answer": "<script>alert(1)</script>" + "x" * 500, "cost": None, "labels": {"n": n}} for n in range(30)]
    shown = table(rows, "exchanges")
    assert shown.startswith("<table><caption>exchanges: 30 rows, of which 10 are shown</caption>")
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "cost" not in shown
    assert shown.count("<tr>") == 11 and len(shown) < 10 * 400
    assert "0 rows" in table([], "facts")
    wide = table([{f"column {n}": "x" * 500 for n in range(40)}] * 500, "exchanges")
    assert "not shown: column 12, column 13" in wide and len(wide) < 20_000


def test_what_a_log_shows(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log, "pilot-1") as run:
        with run.call("vote", participant="p_07"):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "<b>yes</b>?"}])
            vote = run.decide("vote", "yes")
            run.fact("elected", "Ada", because=[vote])
    read = retold.open(log)
    assert "pilot-1" in read._repr_html_() and "&lt;b&gt;yes" in read.run()._repr_html_()
    assert "p_07" in read.decisions()._repr_html_()
    assert repr(vote) == "<decision vote: 'yes'>" and vote.value == "yes"
    again = pickle.loads(pickle.dumps(vote))
    assert again == vote and repr(again) == repr(vote)
    checked = read.run().check(lambda answer: "no", name="vote")
    assert repr(checked).startswith("<retold.Checked 1 decision vote@1") and "\n" not in repr(checked)


def test_an_interrupted_recording_says_how_it_goes_on(model, log, capsys):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with pytest.raises(KeyboardInterrupt), retold.record(log) as run:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "one"}])
        raise KeyboardInterrupt
    assert f"retold.resume(.., {run.id[:8]!r}) continues the run" in capsys.readouterr().err
