"""What goes wrong, and what is said then."""

from __future__ import annotations

import os
import ssl

import httpx
import openai
import pytest
import requests

import retold
from retold import _program


def test_blocks_are_not_nested(log):
    with retold.record(log) as run:
        with pytest.raises(retold.BlockError, match=run.id):
            with retold.record(log):
                pass


def test_a_run_that_does_not_exist(log, model):
    with pytest.raises(retold.StartFailed, match="study.db"):
        retold.replay(log).__enter__()
    with retold.record(log):
        pass
    with pytest.raises(retold.StartFailed, match="nosuchrun"):
        retold.replay(log, "nosuchrun").__enter__()
    # Nothing is left behind.
    with retold.record(log):
        pass


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_no_permission(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    with pytest.raises(retold.StartFailed, match="ermission"):
        retold.record(folder / "study.db").__enter__()


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(retold.StartFailed, match="nowhere"):
        retold.record(tmp_path / "nowhere" / "study.db").__enter__()


def test_no_program(monkeypatch, log):
    monkeypatch.setattr(_program, "NAME", "no-such-program")
    monkeypatch.delenv("RETOLD_PROGRAM", raising=False)
    with pytest.raises(retold.ProgramNotFound, match="pip install --force-reinstall retold"):
        retold.record(log).__enter__()


def test_a_rule_that_cannot_be_used(log):
    with pytest.raises(retold.StartFailed, match="ignore"):
        retold.record(log, ignore=["messages..x"]).__enter__()
    assert not os.path.exists(log)


def test_a_replay_reaches_no_other_host(log, model):
    with retold.record(log):
        pass
    with retold.replay(log) as run:
        for ask in (
            lambda: httpx.get("http://example.invalid/x"),
            lambda: requests.get("http://example.invalid/x"),
            lambda: openai.OpenAI(api_key="x", base_url="http://192.0.2.1/v1", max_retries=0).models.list(),
        ):
            with pytest.raises(Exception, match="was not recorded|Connection error"):
                ask()
        assert set(run.refused) == {"example.invalid", "192.0.2.1"}
        # This machine can be reached.
        assert requests.get(f"{model.url}/nothing").status_code == 501


def test_a_client_that_does_not_check_certificates_is_refused(log):
    with retold.record(log):
        for ask in (
            lambda: httpx.Client(verify=False).post("https://api.openai.com/v1/chat/completions", json={}),
            lambda: requests.post("https://api.openai.com/v1/chat/completions", json={}, verify=False),
            lambda: httpx.Client(verify=ssl._create_unverified_context()).get("https://api.openai.com/v1/models"),
        ):
            with pytest.raises(retold.BlockError, match="verify=False"):
                ask()


def test_other_hosts_are_named(log, model):
    with retold.record(log, exclude=["127.0.0.1"]) as run:
        requests.post(f"{model.url}/v1/chat/completions", json={"model": "m", "messages": [{"content": "x"}]})
    assert run.summary["requests"] == 0


def test_a_value_that_is_not_json(log):
    with retold.record(log) as run:
        with pytest.raises(retold.ReportError, match="'odd' has a value that JSON cannot hold"):
            run.fact("odd", object())
        with pytest.raises(retold.ReportError, match="'nan' has a value that JSON cannot hold"):
            run.fact("nan", float("nan"))
        with pytest.raises(retold.ReportError, match="2\\^53"):
            run.fact("large", 2**60)


def test_a_log_that_is_not_one(tmp_path):
    path = tmp_path / "text.db"
    path.write_text("no log")
    with pytest.raises(OSError, match="text.db"):
        retold.open(path).runs()
    with pytest.raises(OSError, match="missing.db"):
        retold.open(tmp_path / "missing.db").exchanges()


def test_settings_that_are_not_json(log):
    with pytest.raises(ValueError, match="settings have a value"):
        retold.record(log, settings={"people": {1, 2}})
    assert not os.path.exists(log)


def test_rules_may_be_single_texts(log, model):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")

    def ask(text: str, user: str) -> None:
        client.chat.completions.create(model="m", user=user, messages=[{"role": "user", "content": text}])

    with retold.record(log, ignore="user", replace={r"\d+": "N"}, redact="cat"):
        ask("the cat at 5", "a")
    with retold.replay(log):
        ask("the cat at 6", "b")
    assert "cat" not in retold.open(log).exchanges(prompts=True)[0]["question"]
    with pytest.raises(ValueError, match="cannot have a = in it"):
        retold.record(log, replace={r"\d": "n=N"})


def test_a_program_of_another_version(log, monkeypatch):
    monkeypatch.setattr("retold._block.VERSION", "0.0.9")
    with pytest.raises(retold.StartFailed, match="the library has version 0.0.9, and this program has version"):
        retold.record(log).__enter__()
    assert not os.path.exists(log)
