"""What child processes inherit of a block, and what is left of it afterwards."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import asking
import pytest
from ways import SCRIPT

import retold

PYTHON = sys.executable


def completions(model) -> str:
    return f"{model.url}/v1/chat/completions"


def in_c() -> dict[str, str]:
    """The environment of C, which a child process inherits."""
    read = "import os, json; print(json.dumps(dict(os.environ)))"
    return eval(subprocess.check_output([PYTHON, "-I", "-c", read]))


@pytest.mark.parametrize("how", multiprocessing.get_all_start_methods())
def test_a_worker_that_is_used_again_after_the_block_asks_the_model(model, log, how):
    with retold.record(log):
        workers = concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(how))
        inside = workers.submit(asking.ask, completions(model), "inside").result()
    with workers:
        assert workers.submit(asking.ask, completions(model), "inside").result() != inside
        assert len(model.asked) == 2
        # In the next block, it belongs to that one.
        with retold.replay(log):
            assert workers.submit(asking.ask, completions(model), "inside").result() == inside
        assert len(model.asked) == 2
    assert len(retold.open(log).exchanges()) == 1


def test_a_task_has_the_call_that_it_was_given_in(model, log):
    with concurrent.futures.ProcessPoolExecutor(1) as workers, retold.record(log) as run:
        with run.call("vote", participant="p_07"):
            workers.submit(asking.ask, completions(model)).result()
    (row,) = retold.open(log).exchanges()
    assert row["call"] == "vote/p_07" and row["participant"] == "p_07"


def test_the_environment_is_what_it_was(model, log, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
    before, before_in_c = dict(os.environ), in_c()
    with retold.record(log):
        assert dict(os.environ) == before and os.environ["OPENAI_BASE_URL"] == f"{model.url}/v1"
        assert in_c()["OPENAI_BASE_URL"] != f"{model.url}/v1"
        # Set inside: for this process at once, for its children after the block.
        os.environ["OPENAI_BASE_URL"] = "http://127.0.0.1:1/v1"
        os.environ["MINE"] = "1"
        assert in_c()["MINE"] == "1" and "/token/" in in_c()["OPENAI_BASE_URL"]
    assert in_c() == {**before_in_c, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "MINE": "1"}
    del os.environ["MINE"]


def test_a_python_that_is_started_sees_the_environment_as_it_is(log, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text("print('of the user')")
    code = "import os; print(os.environ.get('OPENAI_BASE_URL'), os.environ['PYTHONPATH'], 'RETOLD_BEFORE' in os.environ)"
    given = {**os.environ, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    with retold.record(log):
        plain = subprocess.check_output([PYTHON, "-c", code], text=True)
        own = subprocess.check_output([PYTHON, "-c", code], text=True, env=given)
    assert plain == f"of the user\nNone {tmp_path} False\n"
    assert own == f"of the user\nhttp://127.0.0.1:1/v1 {tmp_path} False\n"


def test_a_program_with_blocks_of_its_own_may_be_started_inside_one(model, log, tmp_path):
    other = tmp_path / "other.db"
    code = f"import asking, retold\nwith retold.record({str(other)!r}):\n    asking.ask({completions(model)!r})\nasking.ask({completions(model)!r}, 'after')"
    given = {**os.environ, "PYTHONPATH": str(Path(SCRIPT).parent)}
    with retold.record(log) as run:
        subprocess.run([PYTHON, "-c", code], env=given, check=True)
    assert len(model.asked) == 2 and len(retold.open(other).exchanges()) == 1
    assert [row["question"] for row in retold.open(log).exchanges(prompts=True)] == ["after"], run.summary


def test_a_program_of_another_python_joins_too(model, log):
    # It need not have the package.
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if python is None or subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info < (3, 10))"]).returncode:
        pytest.skip("there is no other Python of 3.10 or later")
    with retold.record(log) as run:
        subprocess.run([python, SCRIPT, completions(model)], check=True)
    assert run.summary["recorded"] == 1


def test_child_processes_count_for_the_block(log):
    code = "import socket; socket.socket().connect_ex(('192.0.2.1', 9))"
    with retold.record(log) as run:
        subprocess.run([PYTHON, "-c", f"import socket; socket.setdefaulttimeout(0.1); {code}"])
        assert run.passed == {"192.0.2.1": 1}
    assert run.passed == {"192.0.2.1": 1}
    with retold.replay(log) as run:
        done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True)
    assert "192.0.2.1 was not recorded, and a replay asks nobody" in done.stderr and run.refused == {"192.0.2.1": 1}


def test_hosts_that_a_replay_may_reach_are_reached_by_other_programs(model, log, monkeypatch):
    monkeypatch.setenv("http_proxy", model.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    ask = ["curl", "-sS", "--max-time", "5", "http://models.example.org/"]
    with retold.record(log):
        pass
    with retold.replay(log) as run:
        refused = subprocess.run(ask, capture_output=True, text=True)
    assert "models.example.org was not recorded" in refused.stdout and run.refused == {"http://models.example.org": 1}
    with retold.replay(log, allow_hosts=["*.example.org"]) as run:
        reached = subprocess.run(ask, capture_output=True, text=True)
    # It goes there itself, and there is no such host.
    assert "was not recorded" not in reached.stdout and run.refused == {}


def test_a_server_of_one_s_own_is_left_out_by_its_port(model, log):
    port = model.url.rpartition(":")[2]
    with retold.record(log, exclude=[f"127.0.0.1:{port}"]) as run:
        asking.ask(completions(model))
        subprocess.run([PYTHON, SCRIPT, completions(model)], check=True)
    assert run.summary["recorded"] == 0 and len(model.asked) == 2


def test_a_process_that_outlives_its_block_is_itself_again(model, log, tmp_path):
    code = textwrap.dedent(
        f"""
        import os, sys, asking
        asking.ask({completions(model)!r}, "inside")
        print("inside", flush=True)
        sys.stdin.readline()
        asking.ask({completions(model)!r}, "after")
        print(os.popen("env").read())
        """
    )
    others = {name: value for name, value in os.environ.items() if not name.startswith("RETOLD_")}
    given = {**others, "PYTHONPATH": str(Path(SCRIPT).parent)}
    with retold.record(log) as run:
        child = subprocess.Popen([PYTHON, "-c", code], env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "inside\n"
    said, _ = child.communicate("\n", timeout=60)
    assert run.summary["recorded"] == 1 and len(model.asked) == 2
    assert not any(ours in said for ours in ("/token/", "RETOLD_", "retold-scratch"))


def test_a_cluster_that_is_older_than_the_block_is_named(log, monkeypatch):
    # `ray.is_initialized` says so; test_covered.py has a cluster of Dask.
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: True))
    with retold.record(log) as run:
        assert run.passed == {"workers of Ray": 1}
    with pytest.raises(retold.BlockError, match="the workers of Ray were started before the block"):
        retold.replay(log).__enter__()
