"""Plans of programs: what is expected before the first call, and what deviates."""

from __future__ import annotations

import httpx
import pytest

import retold
from retold._ask import ask

FIGURE = "share of polite = true by style against plain independent"


def study(run: retold.Run, url: str, *, model: str = "made-up", people: int = 6) -> None:
    """Half of the people are asked in one style, half in the other."""
    for person in range(people):
        style = ("plain", "kind")[person % 2]
        with run.call(f"ask/{person}", style=style, person=str(person)):
            body = {"model": model, "messages": [{"role": "user", "content": f"{style}: hello {person}"}]}
            httpx.post(f"{url}/v1/chat/completions", json=body)
            run.decide("polite", style == "kind" or person == 0)


def register(log: str, **changes: object) -> retold.Plan:
    expected = {"figure": FIGURE, "direction": "greater"}
    planned = {"calls": 6, "models": ["made-up"], "stopping": "after six people", **changes}
    return retold.plan(log, "politeness", [expected], **planned)


def search(log: str) -> dict[str, object]:
    return ask(log, ["stats", "politeness", "--figure", FIGURE])["search"][0]


def kinds(log: str) -> list[str]:
    return [deviation["kind"] for deviation in search(log)["deviations"]]


def test_a_program_runs_by_its_plan(model, log):
    plan = register(log)
    assert plan.is_new and not register(log).is_new
    with retold.record(log, plan=plan) as run:
        study(run, model.url)
    assert [run["name"] for run in ask(log, ["log"])["runs"]] == ["politeness-plan", "politeness"]
    assert search(log)["standing"] == "by_plan"
    assert search(log)["deviations"] == []
    assert search(log)["as_expected"] == ["kind minus plain: on the expected side"]
    with retold.replay(log, "politeness") as run:
        study(run, model.url)


def test_what_a_program_does_otherwise_is_named(model, log):
    with retold.record(log, plan=register(log)) as run:
        study(run, model.url, people=8)
    assert kinds(log) == ["size"]
    with retold.record(log, plan=register(log)) as run:
        study(run, model.url, model="another")
    assert kinds(log) == ["model"]
    with pytest.raises(RuntimeError), retold.record(log, plan=register(log)) as run:
        study(run, model.url)
        raise RuntimeError("the power is out")
    assert kinds(log) == ["stopped_early"]
    with retold.record(log, "politeness") as run:
        study(run, model.url)
    assert search(log)["standing"] == "exploratory"
    assert search(log)["runs"]["real"] == 4


def test_a_plan_that_came_later_is_no_plan(model, log):
    with retold.record(log, "politeness") as run:
        study(run, model.url)
    register(log)
    assert search(log)["standing"] == "before_plan"


def test_a_plan_is_of_one_name(model, log):
    with pytest.raises(retold.StartFailed, match="this run has the name manners"):
        retold.record(log, "manners", plan=register(log)).__enter__()
    with pytest.raises(retold.RetoldError, match="its direction is from a baseline"):
        retold.plan(log, "x", [{"figure": "share of polite = true", "direction": "less"}])
    with pytest.raises(retold.RetoldError, match="it has no hypotheses"):
        retold.plan(log, "x", [])
