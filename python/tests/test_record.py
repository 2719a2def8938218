"""Recording, replaying, resuming and forking, with the SDKs that people use."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import aiohttp
import anthropic
import grpc
import httpx
import openai
import pytest
import requests

import retold
from retold._hosts import ends_like
from retold._program import program


def ask(client: openai.OpenAI, text: str) -> str:
    answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    return answer.choices[0].message.content


def test_a_client_that_was_made_before_is_recorded_and_replayed(model, log):
    client = openai.OpenAI(api_key="sk-secret", base_url=f"{model.url}/v1")
    with retold.record(log, name="gpt-4.1/pilot", settings={"temperature": 0}) as run:
        recorded = [ask(client, "one"), ask(client, "same"), ask(client, "same")]
    assert run.summary["recorded"] == 3
    assert len(set(recorded)) == 3
    asked = len(model.asked)
    with retold.replay(log, "gpt-4.1/pilot", settings={"temperature": 0}):
        replayed = [ask(client, "one"), ask(client, "same"), ask(client, "same")]
    assert replayed == recorded
    assert len(model.asked) == asked
    assert "sk-secret" not in open(log, "rb").read().decode("latin-1")


def test_outside_of_a_block_nothing_is_caught(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log):
        ask(client, "inside")
    ask(client, "outside")
    assert [row["question"] for row in retold.open(log).exchanges(prompts=True)] == ["inside"]


def test_a_changed_prompt_fails_with_the_difference(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log):
        ask(client, "what is the capital of France?")
    with pytest.raises(retold.ReplayMismatch, match="capital of Spain") as mismatch:
        with retold.replay(log):
            ask(client, "what is the capital of Spain?")
    assert "messages.0.content" in mismatch.value.report
    assert isinstance(mismatch.value.__cause__, openai.NotFoundError)


def test_a_mismatch_that_the_program_swallows_fails_too(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log):
        ask(client, "one")
    with pytest.raises(retold.ReplayMismatch, match="was not recorded"):
        with retold.replay(log):
            ask(client, "one")
            with pytest.raises(openai.NotFoundError):
                ask(client, "two")


def test_an_answer_that_nobody_asks_for_fails_unless_it_may(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log):
        ask(client, "one")
        ask(client, "two")
    with pytest.raises(retold.ReplayMismatch, match="1 recorded request was never asked"):
        with retold.replay(log):
            ask(client, "one")
    with pytest.warns(retold.UnusedAnswers):
        with retold.replay(log, unused="warn"):
            ask(client, "one")
    with retold.replay(log, unused="ignore"):
        ask(client, "one")
    with pytest.raises(ValueError, match="unused is one of error, warn, ignore"):
        retold.replay(log, unused="no")


def test_decisions_facts_marks_and_labels_become_tables(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")

    def study(run: retold.Run, state: object) -> None:
        with run.call("vote", participant="p_07", condition="acp", seq=3):
            answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "yes or no?"}])
            vote = run.decide("vote", "yes", method="last word", reasoning="it said so", warnings=["odd"])
        run.decide("again", "yes", response=answer)
        run.fact("elected", "Ada", because=[vote], lane="district 3")
        run.mark("round 1", state)

    with retold.record(log) as run:
        study(run, {"scores": [1, 2.5]})
    with retold.replay(log) as run:
        study(run, {"scores": [1, 2.5]})
    with pytest.raises(retold.ReplayMismatch, match="mark round 1") as mismatch:
        with retold.replay(log) as run:
            study(run, {"scores": [1, 3]})
    assert isinstance(mismatch.value.__cause__, retold.ReportError)
    read = retold.open(log)
    (exchange,) = read.exchanges(prompts=True)
    assert exchange["participant"] == "p_07" and exchange["condition"] == "acp" and exchange["label_seq"] == "3"
    assert exchange["call"] == "vote/p_07/acp/3" and exchange["status"] == "answered" and exchange["response_model"] == "made-up"
    assert exchange["question"] == "yes or no?" and exchange["answer"].startswith("made-up answer")
    decisions = read.decisions()
    assert [row["name"] for row in decisions] == ["vote", "again"]
    assert decisions[0]["value"] == "yes" and decisions[0]["method"] == "last word"
    assert decisions[0]["participant"] == "p_07" and decisions[0]["warnings"] == ["odd"]
    (fact,) = read.facts()
    assert fact["name"] == "elected" and fact["value"] == "Ada" and len(fact["because"]) == 1
    assert [row["experiment"] for row in read.runs()] == ["program"]


def test_a_decision_needs_an_answer(model, log):
    with retold.record(log) as run:
        with pytest.raises(retold.ReportError, match="which answer does 'vote' rest on"):
            run.decide("vote", "yes")
        with pytest.raises(retold.ReportError, match="not an answer of this run"):
            run.decide("vote", "yes", response="nonsense")
        with pytest.raises(retold.ReportError, match="has no id"):
            run.decide("vote", "yes", response=object())


def test_every_transport(model, log):
    base = f"{model.url}/v1"
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    client, messages = openai.OpenAI(api_key="x", base_url=base), anthropic.Anthropic(api_key="x", base_url=model.url)
    a_client = openai.AsyncOpenAI(api_key="x", base_url=base)
    session = requests.Session()

    async def with_aiohttp() -> tuple[str, str]:
        async with aiohttp.ClientSession() as session, session.post(f"{base}/chat/completions", json=body) as answer:
            return str(answer.url), (await answer.json())["choices"][0]["message"]["content"]

    async def at_once() -> list[str]:
        ask = lambda: a_client.chat.completions.create(**body)  # noqa: E731
        return sorted(one.choices[0].message.content for one in await asyncio.gather(*[ask() for _ in range(5)]))

    def study() -> list[object]:
        stream = client.chat.completions.create(stream=True, **body)
        posted = session.post(f"{base}/chat/completions", json=body)
        plain = httpx.post(f"{base}/chat/completions", json=body)
        return [
            "".join(chunk.choices[0].delta.content or "" for chunk in stream),
            messages.messages.create(max_tokens=9, **body).content[0].text,
            asyncio.run(at_once()),
            asyncio.run(at_once()),
            asyncio.run(with_aiohttp()),
            (posted.url, posted.content),
            (str(plain.url), plain.content),
        ]

    with retold.record(log) as run:
        recorded = study()
    assert run.summary["recorded"] == 15 and run.passed == {}
    asked = len(model.asked)
    with retold.replay(log):
        assert study() == recorded
    assert len(model.asked) == asked


def test_threads_and_executors_are_inside_the_call(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log) as run, run.call("group", member="a"):
        thread = threading.Thread(target=ask, args=(client, "thread"))
        thread.start()
        thread.join()
        with ThreadPoolExecutor(2) as executor:
            list(executor.map(lambda text: ask(client, text), ["e1", "e2"]))
        asyncio.run(asyncio.to_thread(ask, client, "to_thread"))
    rows = retold.open(log).exchanges(prompts=True)
    assert {row["call"] for row in rows} == {"group/a"} and {row["member"] for row in rows} == {"a"}
    assert sorted(row["question"] for row in rows) == ["e1", "e2", "thread", "to_thread"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_processes(model, log, tmp_path):
    program = tmp_path / "study.py"
    program.write_text(
        textwrap.dedent(
            f"""
            import multiprocessing, os, subprocess, sys
            import openai, retold

            client = openai.OpenAI(api_key="x", base_url="{model.url}/v1")

            def ask(text):
                answer = client.chat.completions.create(model="m", messages=[{{"role": "user", "content": text}}])
                return answer.choices[0].message.content

            def study():
                out = [ask("warm")]
                pid = os.fork()
                if pid == 0:
                    try:
                        ask("forked")
                        try:
                            with retold.record("other.db"):
                                pass
                        except retold.BlockError as error:
                            print(error, flush=True)
                    finally:
                        os._exit(0)
                os.waitpid(pid, 0)
                for how in ("fork", "spawn", "forkserver"):
                    with multiprocessing.get_context(how).Pool(1) as pool:
                        out += pool.map(ask, ["by " + how])
                child = "import openai; print(openai.OpenAI().chat.completions.create(model='m', messages=[" \\
                    "{{'role': 'user', 'content': 'child'}}]).choices[0].message.content)"
                out.append(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout)
                return out

            if __name__ == "__main__":
                block = retold.replay(sys.argv[1]) if len(sys.argv) > 2 else retold.record(sys.argv[1])
                with block:
                    print(study())
            """
        )
    )
    env = {**os.environ, "OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{model.url}/v1"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, str(program), log, *arguments], env=env, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    recorded = run()
    assert "was forked inside a block" in recorded and "by forkserver" in recorded and "child" in recorded
    model.stop()
    assert run("replay") == recorded


def test_a_run_that_died_is_resumed_and_paid_once(model, log, tmp_path):
    program = tmp_path / "study.py"
    program.write_text(
        textwrap.dedent(
            """
            import os, sys
            import openai, retold

            log, base, how, until = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
            client = openai.OpenAI(api_key="x", base_url=base)
            with getattr(retold, how)(log):
                for n in range(10):
                    if n == until:
                        os.kill(os.getpid(), 9)
                    text = f"question {n}"
                    answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
                    print(answer.choices[0].message.content)
            """
        )
    )

    def run(how: str, until: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(program), log, f"{model.url}/v1", how, str(until)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert run("record", 6).returncode == -9
    assert len(model.asked) == 6
    whole = run("resume", 99)
    assert whole.returncode == 0, whole.stderr
    assert len(model.asked) == 10
    again = run("replay", 99)
    assert again.stdout == whole.stdout and again.returncode == 0, again.stderr
    assert len(model.asked) == 10


def test_a_fork_shares_what_was_asked(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log):
        first = ask(client, "one")
    with retold.fork(log) as run:
        assert ask(client, "one") == first
        ask(client, "two")
    assert run.summary["recorded"] == 1 and len(model.asked) == 2


def test_one_answer_is_taken_back_and_a_fork_begins_at_a_place(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")

    def study(run):
        answers = []
        for name in ("one", "two", "three"):
            with run.call(name):
                answers.append(ask(client, "the same"))
        return answers

    with retold.record(log, "first") as run:
        first = study(run)
    with retold.fork(log, "first", "second", without="two") as run:
        second = study(run)
    assert [a == b for a, b in zip(first, second)] == [True, False, True]
    with retold.fork(log, "first", "third", at="two") as run:
        third = study(run)
    assert [a == b for a, b in zip(first, third)] == [True, False, False]
    assert len(model.asked) == 3 + 1 + 2


def test_an_exception_leaves_a_run_that_can_be_resumed(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with pytest.raises(ZeroDivisionError):
        with retold.record(log) as run:
            ask(client, "one")
            raise ZeroDivisionError
    assert run.summary["finished"] is False
    with retold.resume(log) as run:
        ask(client, "one")
        ask(client, "two")
    assert run.summary["finished"] is True and len(model.asked) == 2


def test_an_unfinished_run_of_the_same_name_is_named_once(model, log, capsys):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with pytest.raises(ZeroDivisionError):
        with retold.record(log, name="pilot") as first:
            ask(client, "one")
            raise ZeroDivisionError
    assert capsys.readouterr().err == ""
    with retold.record(log, name="pilot"):
        ask(client, "one")
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"retold.resume({str(log)!r}, {first.id[:8]!r}) continues it" in said
    # The last run of the name is finished.
    with retold.record(log, name="pilot"):
        ask(client, "one")
    assert capsys.readouterr().err == ""


def test_a_decorator_and_async_blocks(model, log):
    client = openai.AsyncOpenAI(api_key="x", base_url=f"{model.url}/v1")

    @retold.record(log)
    async def study(text: str) -> str:
        answer = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
        return answer.choices[0].message.content

    recorded = asyncio.run(study("hello"))

    async def again() -> str:
        async with retold.replay(log) as run, run.call("named"):
            return await study.__wrapped__("hello")

    with pytest.raises(retold.ReplayMismatch, match="named"):
        asyncio.run(again())

    async def once_more() -> str:
        async with retold.replay(log):
            return await study.__wrapped__("hello")

    assert asyncio.run(once_more()) == recorded


@pytest.mark.parametrize(
    ("end", "finished"),
    [
        ("sys.exit()", True),
        ("sys.exit(3)", False),
        ("os._exit(0)", False),
        ("os.kill(os.getpid(), signal.SIGINT)", False),
        ("os.kill(os.getpid(), signal.SIGTERM)", False),
    ],
)
def test_however_a_program_ends_its_run_says_so(model, log, end, finished):
    code = f"""
import os, signal, sys
import openai, retold

client = openai.OpenAI(api_key="x", base_url={model.url!r} + "/v1")
with retold.record({log!r}):
    client.chat.completions.create(model="m", messages=[{{"role": "user", "content": "one"}}])
    {end}
"""
    subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    # The child process may be about to end.
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    deadline = time.monotonic() + 20
    while True:
        try:
            block = retold.resume(log)
            block.__enter__()
            break
        except retold.StartFailed as error:
            if "is finished" in str(error):
                assert finished
                return
            # Another process still writes it.
            assert time.monotonic() < deadline, error
            time.sleep(0.1)
    assert not finished
    ask(client, "one")
    block.__exit__(None, None, None)
    assert len(model.asked) == 1


def test_a_block_that_is_never_left(model, log):
    code = f"""
import openai, retold

retold.record({log!r}).__enter__()
client = openai.OpenAI(api_key="x", base_url={model.url!r} + "/v1")
client.chat.completions.create(model="m", messages=[{{"role": "user", "content": "one"}}])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [row["question"] for row in retold.open(log).exchanges(prompts=True)] == ["one"]


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for the process in /proc")
def test_the_child_process_ends_with_a_program_that_is_killed(model, log):
    code = f"""
import os, retold

with retold.record({log!r}):
    if os.fork() == 0:
        # A forked process outlives its parent, and holds nothing open that the child process waits for.
        import time
        time.sleep(30)
        os._exit(0)
    print("begun", flush=True)
    os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, timeout=60)

    def servers() -> list[str]:
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = open(f"/proc/{process}/cmdline", "rb").read().split(b"\0")
            except OSError:
                continue
            if any(word.startswith(b"--stdio") for word in words) and log.encode() in words:
                found.append(process)
        return found

    deadline = time.monotonic() + 20
    while servers():
        assert time.monotonic() < deadline, servers()
        time.sleep(0.1)


def test_participants_who_are_asked_the_same_keep_their_answers(model, log):
    client = openai.AsyncOpenAI(api_key="x", base_url=f"{model.url}/v1")

    async def one(run: retold.Run, participant: str) -> str:
        with run.call("vote", participant=participant):
            message = {"role": "user", "content": "Pick a number."}
            answer = await client.chat.completions.create(model="m", messages=[message])
            run.decide("number", answer.choices[0].message.content)
            return answer.choices[0].message.content

    async def study(run: retold.Run, people: list[str]) -> dict[str, str]:
        return dict(zip(people, await asyncio.gather(*[one(run, person) for person in people])))

    people = [f"p{n}" for n in range(12)]
    with retold.record(log) as run:
        recorded = asyncio.run(study(run, people))
    with retold.replay(log) as run:
        assert asyncio.run(study(run, people[::-1])) == recorded
    # A label is a part of what is asked for.
    with pytest.raises(retold.ReplayMismatch, match="vote/somebody"):
        with retold.replay(log) as run:
            asyncio.run(study(run, ["somebody"]))


@pytest.mark.parametrize("name", ["ü", "名前", "two words", "a/b"])
def test_names_of_calls(model, log, name):
    client, session = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1"), requests.Session()
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}

    async def posted() -> None:
        async with aiohttp.ClientSession() as session, session.post(f"{model.url}/v1/chat/completions", json=body) as answer:
            await answer.read()

    with retold.record(log) as run, run.call(name, name="Ünï/ code\n%"):
        ask(client, "hi")
        session.post(f"{model.url}/v1/chat/completions", json=body)
        asyncio.run(posted())
    rows = retold.open(log).exchanges()
    assert {row["call"] for row in rows} == {f"{name}/Ünï%2F%20code%0A%25"} and len(rows) == 3
    assert {row["label_name"] for row in rows} == {"Ünï/ code\n%"}


def test_names_that_calls_cannot_have(log):
    with retold.record(log) as run:
        for wrong in ["", " a", "a\n", "a//b", "x" * 501, "\ud800"]:
            with pytest.raises(ValueError, match="cannot be the name of a call"):
                run.call(wrong)
        with pytest.raises(TypeError, match="a text, not int"):
            run.call(5)
    with pytest.raises(retold.ReportError, match="has ended"):
        run.fact("late", 1)


def test_blocks_that_begin_at_the_same_time(model, tmp_path):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    refused: list[BaseException] = []

    @retold.record(tmp_path / "decorated.db")
    def study(n: int) -> str:
        time.sleep(0.2)
        return ask(client, f"thread {n}")

    def begin(n: int) -> None:
        try:
            study(n)
        except retold.BlockError as error:
            refused.append(error)

    threads = [threading.Thread(target=begin, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runs = retold.open(tmp_path / "decorated.db").runs()
    assert len(runs) + len(refused) == 4 and refused
    for run in runs:
        assert len(retold.open(tmp_path / "decorated.db").exchanges(run["run"])) == 1
    block = retold.record(tmp_path / "once.db")
    with pytest.raises(retold.BlockError, match="not active"):
        block.__exit__(None, None, None)
    with pytest.raises(TypeError, match="generator"):

        @retold.record(tmp_path / "generator.db")
        def generator():
            yield 1


def test_an_error_of_the_program_stays_what_it_is(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log) as run:
        ask(client, "one")
        run.fact("said", 1)
    with pytest.raises(KeyError):
        with retold.replay(log) as run:
            ask(client, "one")
            raise KeyError("mine")
    with pytest.raises(KeyboardInterrupt):
        with retold.replay(log) as run:
            raise KeyboardInterrupt


def test_the_loop_goes_on_while_an_async_block_ends(model, log):
    client = openai.AsyncOpenAI(api_key="x", base_url=f"{model.url}/v1")

    async def study() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.05)
                ticks += 1

        ticking = asyncio.create_task(tick())
        async with retold.record(log):
            message = {"role": "user", "content": "sleep"}
            asked = asyncio.create_task(client.chat.completions.create(model="m", messages=[message]))
            await asyncio.sleep(0.5)
            asked.cancel()
            ticks = 0
        ticking.cancel()
        return ticks

    # The model takes five seconds, and its answer is paid for.
    assert asyncio.run(study()) > 20


@pytest.mark.parametrize("name", ["openai/gpt-4o", "v1.2", "study.yaml"])
def test_a_run_is_found_by_whatever_name_it_has(model, log, name):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    for question in ("one", "two"):
        with retold.record(log, name=name):
            ask(client, question)
    with retold.replay(log, name):
        ask(client, "two")


def test_nothing_is_left_beside_the_log_but_its_mark(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log):
        ask(client, "one")
    assert sorted(os.listdir(os.path.dirname(log))) == ["study.db", "study.db-mark"]


def test_a_cost_limit_stops_a_block_that_can_be_resumed(model, log):
    client = openai.OpenAI(base_url=f"{model.url}/v1", api_key="sk-secret")

    def ask(question):
        messages = [{"role": "user", "content": question}]
        return client.chat.completions.create(model="gpt-4o-mini", messages=messages).choices[0].message.content

    with pytest.raises(retold.OverBudget, match="max_cost is 0.000001: 1 of the requests"):
        with retold.record(log, max_cost=1e-6):
            ask("one")
            with pytest.raises(openai.APIStatusError) as refused:
                ask("two")
            assert refused.value.status_code == 402
    assert len(model.asked) == 1
    with retold.resume(log, max_cost=1):
        assert "one" in ask("one") and "two" in ask("two")
    assert len(model.asked) == 2


@pytest.mark.parametrize("is_async", [False, True])
def test_a_timeout_happens_again(model, log, is_async):
    options = {"base_url": f"{model.url}/v1", "api_key": "x", "max_retries": 0, "timeout": 0.3}
    messages = [{"role": "user", "content": "take a nap"}]

    async def in_a_loop():
        async with openai.AsyncOpenAI(**options) as client:
            await client.chat.completions.create(model="m", messages=messages)

    def study():
        with pytest.raises(openai.APITimeoutError):
            if is_async:
                asyncio.run(in_a_loop())
            else:
                openai.OpenAI(**options).chat.completions.create(model="m", messages=messages)

    with retold.record(log) as run:
        study()
    assert run.summary["clients_left"]["clients"] == 1
    with retold.replay(log):
        study()
    assert len(model.asked) == 1


def test_prices_of_one_s_own_bound_the_cost_of_any_model(model, log, tmp_path):
    client, prices = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1"), tmp_path / "prices.yaml"
    with pytest.raises(retold.OverBudget, match="no price"), retold.record(log, max_cost=1):
        with pytest.raises(openai.APIStatusError):
            ask(client, "one")
    prices.write_text("models:\n  m: {prompt: 1000, completion: 1000}\n")
    with pytest.raises(retold.OverBudget, match="max_cost is 0.0"), retold.record(log, max_cost=0.001, prices=prices):
        ask(client, "one")
        with pytest.raises(openai.APIStatusError):
            ask(client, "two")
    assert len(model.asked) == 1


def test_a_decision_rests_on_the_last_answer_whatever_the_transport(model, log):
    body = {"model": "m", "messages": [{"role": "user", "content": "yes or no?"}]}
    url = f"{model.url}/v1/chat/completions"

    async def by_aiohttp():
        async with aiohttp.ClientSession() as client, client.post(url, json=body) as response:
            return await response.json()

    senders = {
        "httpx": lambda: httpx.post(url, json=body).json(),
        "requests": lambda: requests.post(url, json=body).json(),
        "aiohttp": lambda: asyncio.run(by_aiohttp()),
    }
    with retold.record(log) as run:
        for name, send in senders.items():
            with run.call(name):
                send()
                run.decide("vote", name)
    exchanges = {row["call"]: row["answer_seq"] for row in retold.open(log).exchanges()}
    decisions = {row["value"]: row["answer_seq"] for row in retold.open(log).decisions()}
    assert decisions == exchanges and len(decisions) == 3


@pytest.mark.parametrize("target", ["models.example.org:443", "dns:///models.example.org:443", "dns:models.example.org"])
def test_channels_of_grpc_are_counted_and_a_replay_refuses_them(log, target):
    with retold.record(log) as run:
        grpc.insecure_channel(target).close()
        grpc.insecure_channel("unix:/tmp/nobody").close()
        grpc.insecure_channel("localhost:1").close()
        assert run.passed == {"models.example.org": 1}
    with retold.replay(log):
        with pytest.raises(retold.NotCaught, match="models.example.org"):
            grpc.insecure_channel(target)
    with retold.replay(log, allow_hosts=["models.example.org"]):
        grpc.insecure_channel(target).close()


def test_rules_are_added_to_a_run_that_was_recorded_without_them(model, log):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log) as run:
        first = ask(client, "It is 11:30. Say hi.")
    with pytest.raises(retold.ReplayMismatch) as mismatch, retold.replay(log):
        with pytest.raises(openai.APIStatusError):
            ask(client, "It is 12:45. Say hi.")
    assert "--replace" in mismatch.value.report
    with retold.replay(log, replace={r"\d\d:\d\d": "TIME"}):
        assert ask(client, "It is 12:45. Say hi.") == first
    with retold.fork(log, run.id, replace={r"\d\d:\d\d": "TIME"}):
        assert ask(client, "It is 12:45. Say hi.") == first
        second = ask(client, "It is 12:45. Say ho.")
    with retold.replay(log):
        assert ask(client, "It is 09:10. Say hi.") == first
        assert ask(client, "It is 09:10. Say ho.") == second
    assert len(model.asked) == 2


def test_the_end_of_a_path_may_name_any_model():
    ends = ("/chat/completions", "/model/*/converse")
    for path in ("/v1/chat/completions", "/model/amazon.nova-lite-v1%3A0/converse"):
        assert ends_like(path, ends)
    for path in ("/chain/converse", "/model/m/converse/x", "/chat/completions/id"):
        assert not ends_like(path, ends)


@pytest.mark.skipif(sys.platform == "win32", reason="there, nobody removes the folder of a process that was killed")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_killed_test_has_recorded_is_removed_by_the_next_command(model, tmp_path, end):
    code = f"""
import os, signal
import openai, retold

client = openai.OpenAI(api_key="x", base_url={model.url!r} + "/v1")
with retold.Cassette({str(tmp_path / "a.yaml")!r}, "all"):
    client.chat.completions.create(model="m", messages=[{{"role": "user", "content": "one"}}])
    os.kill(os.getpid(), {int(end)})
"""
    place = tmp_path / "scratch"
    place.mkdir()
    environment = {**os.environ, "TMPDIR": str(place)}
    subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, env=environment)
    assert [path for path in place.iterdir() if path.stat().st_mode & 0o077] == []
    deadline = time.monotonic() + 20
    while any(place.iterdir()):
        # The program that recorded may be about to end; the folder is not its own.
        assert time.monotonic() < deadline, list(place.iterdir())
        subprocess.run([program(), "log"], capture_output=True, timeout=60, env=environment)
        time.sleep(0.1)
