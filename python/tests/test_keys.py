"""Placeholders of keys: inside replays only, and never in place of a key."""

from __future__ import annotations

import os
import subprocess
import sys

import anthropic
import asking
import openai
import pytest

import retold

KEY = "OPENAI_API_KEY"


@pytest.fixture
def recorded(model, log, monkeypatch) -> str:
    monkeypatch.setenv(KEY, "sk-real")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
    with retold.record(log):
        openai.OpenAI().chat.completions.create(**asking.BODY)
    monkeypatch.delenv(KEY)
    monkeypatch.delenv("OPENAI_BASE_URL")
    # The plugin has placeholders for tests that are collected.
    monkeypatch.setattr("retold._environ._of_tests", frozenset())
    model.stop()
    return log


def test_a_replay_needs_neither_a_key_nor_the_variable_of_a_gateway(recorded):
    with pytest.raises(openai.OpenAIError):
        openai.OpenAI()
    with retold.replay(recorded):
        openai.OpenAI().chat.completions.create(**asking.BODY)
        anthropic.Anthropic()
    with pytest.raises(openai.OpenAIError):
        openai.OpenAI()


def test_a_program_and_a_file_of_keys_find_none_set(recorded, tmp_path, monkeypatch):
    with retold.replay(recorded, unused="ignore"):
        assert KEY not in os.environ and KEY not in dict(os.environ) and KEY not in list(os.environ)
        assert os.environ.pop(KEY, "none") == "none"
        assert os.environ.setdefault(KEY, "sk-of-a-file") == "sk-of-a-file"
        assert openai.OpenAI().api_key == "sk-of-a-file"
    assert os.environ.pop(KEY) == "sk-of-a-file"
    assert KEY not in os.environ and os.environ.get(KEY) is None


def test_a_placeholder_that_is_put_back_is_not_set(recorded):
    with retold.replay(recorded, unused="ignore"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(KEY, "sk-for-a-while")
        assert KEY not in os.environ
        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyError):
            patch.delenv(KEY)
    assert os.environ.get(KEY) is None


def test_a_key_that_is_set_is_the_one_that_is_used(recorded, monkeypatch):
    monkeypatch.setenv(KEY, "sk-mine")
    with retold.replay(recorded, unused="ignore"):
        assert openai.OpenAI().api_key == "sk-mine"
    assert os.environ[KEY] == "sk-mine"


def test_a_library_that_asks_whether_a_key_is_set_finds_one_and_a_loader_does_not(recorded, tmp_path, monkeypatch):
    packages = tmp_path / "site-packages"
    packages.mkdir()
    for name in ("sdk", "dotenv"):
        (packages / f"{name}.py").write_text(f"import os\ndef is_set(): return {KEY!r} in os.environ\n")
    monkeypatch.syspath_prepend(packages)
    import dotenv
    import sdk

    with retold.replay(recorded, unused="ignore"):
        assert sdk.is_set() and not dotenv.is_set()
    assert not sdk.is_set()


def test_a_child_process_needs_no_key_either(recorded):
    code = "import openai, asking; openai.OpenAI().chat.completions.create(**asking.BODY)"
    with retold.replay(recorded):
        subprocess.run([sys.executable, "-c", code], check=True, cwd=os.path.dirname(asking.__file__))


def test_no_placeholder_outside_of_a_replay(model, log, monkeypatch):
    monkeypatch.delenv(KEY, raising=False)
    monkeypatch.setattr("retold._environ._of_tests", frozenset())
    with retold.record(log), pytest.raises(openai.OpenAIError):
        openai.OpenAI()


def test_tests_are_collected_with_placeholders_that_are_gone_afterwards(pytester, monkeypatch):
    monkeypatch.delenv(KEY, raising=False)
    pytester.makepyfile(
        """
        import os
        import openai, pytest

        client = openai.OpenAI()

        @pytest.mark.skipif("OPENAI_API_KEY" not in os.environ, reason="needs a key")
        def test_live():
            assert False
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(skipped=1)
