"""Calls of tools: recorded with their results and errors, and answered in a replay without running the tool."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import datetime
import enum
import functools
import ipaddress
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import threading
from decimal import Decimal
from typing import Any, NamedTuple

import asking
import pydantic
import pytest

import retold
from retold._program import program
from retold._recorder import recorder
from retold._tool_errors import error_as_json, error_of
from retold._values import NotJson, decode, encode, plain

RUNS: list[Any] = []


@pytest.fixture(autouse=True)
def runs() -> list[Any]:
    RUNS.clear()
    return RUNS


@retold.tool
def search(query: str, most: int = 2) -> list[str]:
    RUNS.append(query)
    return [f"{query} {n}" for n in range(most)]


class NoFlight(Exception):
    def __init__(self, city: str, code: int) -> None:
        super().__init__(f"no flight to {city}")
        self.city, self.code = city, code


@retold.tool(name="book a flight")
async def book(city: str) -> dict[str, Any]:
    RUNS.append(city)
    await asyncio.sleep(0)
    if city == "Nowhere":
        raise NoFlight(city, 3)
    return {"city": city, "seats": (1, 2)}


def trip() -> tuple[Any, ...]:
    found = search("Ada"), search("Ada"), search("Ada", most=1), search(query="Ada", most=1)
    booked = asyncio.run(book("Oslo"))
    with pytest.raises(NoFlight, match="no flight to Nowhere") as missing:
        asyncio.run(book("Nowhere"))
    return found, booked, missing.value.city, missing.value.code


def shown(log: str, *words: str) -> str:
    done = subprocess.run([program(), "--log", log, *words], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_a_replay_gives_what_was_recorded_and_runs_nothing(log, runs):
    with retold.record(log) as run:
        given = trip()
    assert run.summary["tools"] == {"recorded": 6, "failed": 1, "replayed": 0} and run.summary["requests"] == 0
    assert len(runs) == 6
    runs.clear()
    for _ in range(2):
        with retold.replay(log) as run:
            assert trip() == given
        assert run.summary["tools"]["replayed"] == 6
    assert runs == []
    figures = json.loads(shown(log, "stats", "latest", "--json"))
    assert figures["calls"]["asked"] == 0 and figures["attempts"]["made"] == 0
    assert figures["tools"]["search"] == {"answered": 4, "reused": 0, "failed": 0}
    assert figures["tools"]["book a flight"] == {"answered": 1, "reused": 0, "failed": 1}


def test_a_tool_may_give_nothing(log, runs):
    @retold.tool
    def note(text: str) -> None:
        runs.append(text)

    for block in (retold.record(log), retold.replay(log)):
        with block:
            assert note("a") is None
    assert runs == ["a"]


def test_outside_of_a_block_a_tool_is_its_function(runs):
    assert search("Ada") == ["Ada 0", "Ada 1"] and asyncio.run(book("Oslo"))["seats"] == (1, 2)
    assert runs == ["Ada", "Oslo"]
    assert search.__name__ == "search" and asyncio.iscoroutinefunction(book)


def test_a_call_that_is_not_recorded_is_refused_with_what_differs(log, runs):
    with retold.record(log):
        search("Ada")
    runs.clear()
    with pytest.raises(retold.ReplayMismatch) as error, retold.replay(log):
        with pytest.raises(retold.NotRecorded, match="tool.search"):
            search("Bob")
    assert runs == []
    report = error.value.report
    assert "first difference at arguments.query\n  recorded  Ada\n  asked now Bob" in report
    assert "1 recorded request was never asked: tool.search/" in report


def test_a_tool_of_a_run_without_tools_is_refused_in_words(log, model, runs):
    with retold.record(log, hosts=[model.url.removeprefix("http://")]):
        asking.ask(f"{model.url}/v1/chat/completions")
    with pytest.raises(retold.ReplayMismatch, match="neither is any other call of a tool: record the run again"):
        with retold.replay(log, unused="ignore"):
            with pytest.raises(retold.NotRecorded):
                search("Ada")


def test_live_tools_run_in_a_replay_and_anew_in_a_fork(log, monkeypatch, runs):
    with retold.record(log) as first:
        search("Ada")
        asyncio.run(book("Oslo"))
    runs.clear()
    with retold.replay(log, live_tools=["sea*"]) as run:
        search("Ada")
        asyncio.run(book("Oslo"))
        # A replay may call what it runs as often as it likes.
        search("Bob")
    assert runs == ["Ada", "Bob"] and run.summary["tools"] == {"recorded": 0, "failed": 0, "replayed": 1}
    runs.clear()
    with retold.fork(log, live_tools="search") as run:
        search("Ada", most=2)
        asyncio.run(book("Oslo"))
    assert runs == ["Ada"] and run.summary["tools"] == {"recorded": 1, "failed": 0, "replayed": 1}
    with retold.fork(log, first.id) as run:
        search("Ada")
        asyncio.run(book("Oslo"))
        search("Bob")
    assert runs == ["Ada", "Bob"] and run.summary["tools"]["recorded"] == 1
    with retold.replay(log):
        search("Ada"), asyncio.run(book("Oslo")), search("Bob")
    assert runs == ["Ada", "Bob"]


def test_the_names_in_the_variable_for_live_tools_have_commas_between_them(monkeypatch):
    monkeypatch.setenv("RETOLD_URL", "http://127.0.0.1:1/token")
    monkeypatch.setenv("RETOLD_LIVE_TOOLS", "search, book*,")
    home = recorder()
    assert home is not None
    assert [home.is_live(name) for name in ("search", "booking", "weather", "")] == [True, True, False, False]


def test_a_run_that_is_resumed_runs_only_what_is_missing(log, runs):
    with pytest.raises(RuntimeError), retold.record(log):
        search("Ada")
        with pytest.raises(NoFlight):
            asyncio.run(book("Nowhere"))
        raise RuntimeError("the power is gone")
    runs.clear()
    with retold.resume(log):
        search("Ada")
        # An error that the program has lived with is not tried again.
        with pytest.raises(NoFlight):
            asyncio.run(book("Nowhere"))
        search("Bob")
    assert runs == ["Bob"]


def test_equal_calls_have_their_own_results_by_the_id_under_which_a_model_called(log, runs):
    def call(id: str) -> Any:
        return retold.call_tool("count", {"of": "all"}, lambda of: RUNS.append(of) or len(RUNS), id=id)

    with retold.record(log):
        given = {id: call(id) for id in ("a", "b", "c")}
    runs.clear()
    with retold.replay(log):
        assert {id: call(id) for id in ("c", "a", "b")} == given
    # The model of a fork has made up other ids.
    with retold.fork(log) as run:
        assert [call(id) for id in ("x", "y", "z")] == [1, 2, 3]
    assert runs == [] and run.summary["tools"]["replayed"] == 3


def test_tools_in_threads_and_in_tasks(log, runs):
    def work() -> list[Any]:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = list(pool.map(search, "abcdefgh"))

        async def all_at_once() -> list[Any]:
            return list(await asyncio.gather(*(book(city) for city in "stuvwxyz")))

        return [*found, *asyncio.run(all_at_once())]

    with retold.record(log):
        given = work()
    runs.clear()
    with retold.replay(log):
        assert work() == given
    assert runs == []


def test_a_call_that_was_cancelled_is_cancelled_again(log, runs):
    @retold.tool
    async def wait(seconds: float) -> float:
        runs.append(seconds)
        await asyncio.sleep(seconds)
        return seconds

    async def work() -> tuple[Any, ...]:
        with pytest.raises(asyncio.TimeoutError) as late:
            await asyncio.wait_for(wait(60), 0.5)
        race = [asyncio.create_task(wait(50)), asyncio.create_task(wait(0.1))]
        first, others = await asyncio.wait(race, return_when=asyncio.FIRST_COMPLETED)
        for other in others:
            other.cancel()
        lost = await asyncio.gather(*others, return_exceptions=True)
        return str(late.value), [task.result() for task in first], [type(error) for error in lost]

    with retold.record(log):
        given = asyncio.run(work())
    assert given == ("", [0.1], [asyncio.CancelledError]) and sorted(runs) == [0.1, 50, 60]
    runs.clear()
    with retold.replay(log):
        assert asyncio.run(work()) == given
    assert runs == []


def test_a_call_that_was_cancelled_before_it_began_is_cancelled_again(log, runs):
    @retold.tool
    async def wait() -> None:
        runs.append(1)

    async def work() -> list[Any]:
        tasks = [asyncio.create_task(wait()) for _ in range(3)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        return [type(error) for error in await asyncio.gather(*tasks, return_exceptions=True)]

    for block in (retold.record(log), retold.replay(log)):
        with block as run:
            assert asyncio.run(work()) == [asyncio.CancelledError] * 3
        assert runs == []
    assert "the tool was cancelled" in shown(log, "log", "latest") and run.summary["not_recorded"] == 0


def test_a_tool_that_outlives_its_block_gives_what_it_gives(log):
    begun, may_end = threading.Semaphore(0), threading.Event()

    @retold.tool
    def last(word: str) -> str:
        begun.release()
        may_end.wait(30)
        if word == "bad":
            raise LookupError(word)
        return word

    with concurrent.futures.ThreadPoolExecutor() as pool:
        with retold.record(log):
            good, bad = pool.submit(last, "good"), pool.submit(last, "bad")
            assert begun.acquire(timeout=30) and begun.acquire(timeout=30)
        with pytest.warns(retold.RetoldWarning, match="the block ended before the tool 'last' did"):
            may_end.set()
            assert good.result(30) == "good" and isinstance(bad.exception(30), LookupError)


def test_a_tool_that_asks_a_model_runs_and_what_it_asks_is_answered(log, model, runs):
    @retold.tool
    def summarise(text: str) -> str:
        runs.append(text)
        return asking.ask(f"{model.url}/v1/chat/completions", text) + search("inner")[0]

    with retold.record(log, hosts=[model.url.removeprefix("http://")]):
        said = summarise("long")
    runs.clear()
    model.stop()
    with retold.replay(log, hosts=[model.url.removeprefix("http://")]):
        assert summarise("long") == said
    assert runs == ["long"]


def test_a_fact_rests_on_what_a_tool_gave_and_a_proof_holds_it(log, tmp_path):
    with retold.record(log) as run:
        search("Ada")
        run.fact("found", 2, because=[search])
        retold.call_tool("count", {"of": "all"}, lambda of: 3, id="call_1")
        run.fact("counted", 3, because="call_1")
        with pytest.raises(retold.ReportError, match="'book a flight' has given nothing here yet"):
            run.fact("booked", 1, because=[book])
    audited = shown(log, "audit", "latest", "3", "--proof", str(tmp_path / "proof.json"))
    assert "search" in audited and '"found"' in audited
    proved = subprocess.run([program(), "verify", "proof", str(tmp_path / "proof.json")], capture_output=True, text=True)
    assert proved.returncode == 0, proved.stderr


class Library:
    @retold.tool
    def find(self, title: str) -> str:
        return title

    async def __call__(self, title: str) -> str:
        return title


def test_what_a_tool_is_called_with_is_what_its_arguments_are(log):
    @retold.tool
    def rank(cls: str, most: int) -> str:
        return f"{cls} {most}"

    ask = retold.tool(name="ask")(Library())
    with retold.record(log):
        assert (rank("a", 1), rank("b", 1), Library().find("x"), asyncio.run(ask("y"))) == ("a 1", "b 1", "x", "y")
    with retold.replay(log):
        # An argument may have the name that methods give to their own object.
        assert (rank("b", 1), rank("a", 1), Library().find("x"), asyncio.run(ask("y"))) == ("b 1", "a 1", "x", "y")


def rolled(run: retold.Run) -> None:
    found = search("Ada")
    run.fact("found", len(found), because=[search, run.chance])
    run.fact("drawn", random.randint(1, 6), because=run.chance)


def test_a_fact_rests_on_draws_and_an_audit_and_a_proof_go_through_them(log, tmp_path):
    with retold.record(log, chance=True) as run:
        rolled(run)
    with retold.replay(log) as run:
        rolled(run)
    assert run.summary["difference"] is None
    # The tool's question and result, then the facts. The first leads to the tool, and to the draws.
    audited = shown(log, "audit", "latest", "4", "--proof", str(tmp_path / "proof.json"))
    assert "fact that follows  seq 4" in audited and "it also rests on\n  the draws of the run, seq 1" in audited
    proof = json.loads((tmp_path / "proof.json").read_text())
    settings = proof["contents"][proof["start"]["event"]["content"]]["text"]
    assert set(json.loads(settings)["chance"]) == {"seed"}
    asked = subprocess.run([program(), "--log", log, "audit", "latest", "5"], capture_output=True, text=True)
    assert asked.returncode == 2 and "rests only on the draws of the run (seq 1), so no prompt led to it" in asked.stderr
    with retold.record(log, name="plain") as run, pytest.raises(retold.ReportError, match="the draws of this run are not recorded"):
        run.fact("drawn", 3, because=run.chance)


def test_a_proof_of_a_decision_holds_what_tools_gave_to_the_facts_that_follow(log, model, tmp_path):
    with retold.record(log, hosts=[model.url.removeprefix("http://")]) as run:
        with run.call("vote"):
            asking.ask(f"{model.url}/v1/chat/completions", "yes?")
            vote = run.decide("vote", "yes")
        search("Ada")
        run.fact("winner", "Ada", because=[vote, search])
    audited = shown(log, "audit", "latest", "vote", "--proof", str(tmp_path / "proof.json"))
    assert "it also rests on\n  tool.search/" in audited
    held = json.loads((tmp_path / "proof.json").read_text())
    assert '["Ada 0","Ada 1"]' in [content["text"] for content in held["contents"].values()]
    proved = subprocess.run([program(), "verify", "proof", str(tmp_path / "proof.json")], capture_output=True, text=True)
    assert proved.returncode == 0, proved.stderr


def looked_up(run: retold.Run, runs: list[Any], city: str) -> tuple[Any, ...]:
    with run.tool("weather", {"city": city}) as call:
        if not call.is_recorded:
            runs.append(city)
            call.result = (city, "snow")
    run.fact("weather", call.result[1], because=[call])

    async def wait() -> Any:
        async with run.tool("tide", {"city": city}, id="call_9") as call:
            if not call.is_recorded:
                runs.append(city)
                raise NoFlight(city, 4)

    with pytest.raises(NoFlight, match=city) as low:
        asyncio.run(wait())
    return call.result, low.value.code


def test_a_call_as_a_block_is_guarded_in_a_replay(log, runs):
    with retold.record(log) as run:
        given = looked_up(run, runs, "Oslo")
    assert runs == ["Oslo", "Oslo"] and run.summary["tools"] == {"recorded": 2, "failed": 1, "replayed": 0}
    with retold.replay(log) as run:
        assert looked_up(run, runs, "Oslo") == given
    assert len(runs) == 2
    with pytest.raises(retold.ReplayMismatch, match="Oslo"), retold.replay(log) as run:
        looked_up(run, runs, "Bergen")
    assert len(runs) == 2


def test_a_block_without_a_result_or_without_a_guard_is_an_error(log):
    with retold.record(log) as run:
        with run.tool("weather", {}) as call:
            call.result = 3
        with pytest.raises(retold.ReportError, match="has set no `result`: set it, to None if the tool gives none"), run.tool("tide", {}):
            pass
        with pytest.raises(retold.ReportError, match="'tide' has given nothing yet"):
            _ = run.tool("tide", {}).result
    with retold.replay(log) as run:
        with pytest.raises(retold.ReportError, match="put it under `if not call.is_recorded:`"), run.tool("weather", {}) as call:
            call.result = 4
        with pytest.raises(retold.ReportError, match="has set no `result`"), run.tool("tide", {}):
            raise AssertionError
    with retold.tool("weather", {}) as call:
        call.result = 5
    assert call.result == 5


def test_what_cannot_be_a_tool_is_refused(log):
    with pytest.raises(TypeError, match="partial has no name: write retold.tool"):
        retold.tool(functools.partial(search, most=1))
    with pytest.raises(TypeError, match="is a generator, and a tool gives one result: return a list"):

        @retold.tool
        def each() -> Any:
            yield 1

    with pytest.raises(TypeError, match="a tool is a function, not int"):
        retold.tool(3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="takes the arguments as a dict"):
        retold.tool("search")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="name= is for the decorator"):
        retold.tool("search", {}, name="find")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="the decorator takes neither"):
        retold.tool(print, id="call_1")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="to_json= and from_json= belong together"):
        retold.tool(to_json=str)
    with pytest.raises(TypeError, match="calls a function, not int"):
        retold.call_tool("add", {"a": 1}, 3)  # type: ignore[arg-type]


def test_what_json_cannot_hold_is_refused_with_what_to_do(log, runs):
    @retold.tool
    def connect(to: Any) -> Any:
        return object()

    with retold.record(log):
        with pytest.raises(TypeError, match="'connect' was called with what JSON cannot hold"):
            connect(object())
        with pytest.raises(TypeError, match="or say with to_json= and from_json= how"):
            connect("a")
    with retold.replay(log), pytest.raises(retold.NotRecorded, match="cannot be recorded as JSON"):
        connect("a")


def test_a_result_of_a_kind_of_its_own_is_converted(log):
    class Money:
        def __init__(self, cents: int) -> None:
            self.cents = cents

    @retold.tool(to_json=lambda money: money.cents, from_json=Money)
    def price(of: str) -> Money:
        return Money(300)

    with retold.record(log):
        assert price("tea").cents == 300
    with retold.replay(log):
        assert price("tea").cents == 300


@dataclasses.dataclass
class Point:
    x: int
    y: tuple[int, ...]


class Pair(NamedTuple):
    one: int
    other: str


class Colour(enum.Enum):
    RED = "red"


class Inner(pydantic.BaseModel):
    x: int


class Deeper(Inner):
    y: int = 2


class Paper(pydantic.BaseModel):
    """Its own JSON leaves out and changes most of it."""

    title: str = pydantic.Field(alias="theTitle")
    hidden: str = pydantic.Field(default="d", exclude=True)
    link: pydantic.HttpUrl
    inner: Inner
    rest: Any
    _seen: set[int] = pydantic.PrivateAttr(default_factory=set)


class Slotted:
    __slots__ = ("one", "other")

    def __init__(self, one: Any, other: Any) -> None:
        self.one, self.other = one, other

    def __eq__(self, that: object) -> bool:
        return isinstance(that, Slotted) and (self.one, self.other) == (that.one, that.other)

    def __repr__(self) -> str:
        return f"Slotted({self.one!r}, {self.other!r})"


def paper() -> Paper:
    made = Paper(
        theTitle="t", link="https://example.org/a", inner=Deeper(x=1), rest=(datetime.date(2026, 11, 30), b"\xff", math.inf)
    )
    made.hidden = "secret"
    made._seen.add(3)
    return made


@pytest.mark.parametrize(
    "value",
    [
        None,
        [1, 2.5, "a", True],
        {"a": (1, {2, 3}), "$retold": "x"},
        {1: b"bytes"},
        datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.timezone.utc),
        datetime.timedelta(days=-1, microseconds=3),
        [2**70, math.inf, -math.inf],
        ["half \udcff", {"half \ud800": 1}],
        [Decimal("1.10"), pathlib.Path("/a"), ipaddress.ip_address("10.0.0.1")],
        Point(1, (2, 3)),
        Pair(1, "b"),
        Colour.RED,
        Slotted(1, (2, 3)),
        paper(),
    ],
)
def test_values_are_read_back_as_they_were(value):
    again = decode(json.loads(json.dumps(encode(value), allow_nan=False).encode()))
    assert (again, repr(again)) == (value, repr(value))
    json.dumps(plain(value), allow_nan=False)


def test_no_number_is_read_back_as_none():
    assert math.isnan(decode(encode(math.nan))) and decode(encode(Decimal("NaN"))).is_nan()


def test_numbers_of_numpy_are_read_back_as_such():
    numpy = pytest.importorskip("numpy")
    for value in (numpy.float32(0.1), numpy.float64(0.1), numpy.int64(3), numpy.str_("a"), numpy.datetime64("2026-11-30")):
        again = decode(json.loads(json.dumps(encode(value))))
        assert (type(again), repr(again)) == (type(value), repr(value))
    assert plain([numpy.float64(0.5), numpy.int8(1)]) == [0.5, 1]
    for strange in (numpy.zeros(2), numpy.datetime64("2026-11-30", "ns")):
        with pytest.raises(NotJson):
            encode(strange)


def test_the_arguments_are_the_same_in_each_process():
    class Tags(pydantic.BaseModel):
        names: set[str]

    assert plain(Tags(names=set("cabed"))) == {"names": list("abcde")}


def test_what_would_be_read_back_as_another_value_is_refused_when_it_is_recorded():
    @dataclasses.dataclass
    class Local:
        x: int

    class Login(pydantic.BaseModel):
        key: pydantic.SecretStr

    for value, why in [
        (Local(1), "the class .*Local cannot be found by its name"),
        (pathlib.PureWindowsPath("c:/a"), "would be read back as another value"),
        (pydantic.SecretStr("k"), "SecretStr is not a value of JSON"),
        (10**5000, "ValueError: Exceeds the limit"),
    ]:
        with pytest.raises(NotJson, match=why):
            encode(value)
    assert plain(Login(key="k")) == {"key": "**********"} and plain(Local(1)) == {"x": 1}


def test_an_argument_of_a_framework_that_json_cannot_hold_is_named_by_its_type():
    with pytest.raises(NotJson):
        plain({"lock": object()})
    assert plain({"lock": object(), "n": 1}, is_strict=False) == {"lock": {"$retold": "object"}, "n": 1}


def test_a_converter_that_fails_says_so_and_the_call_is_recorded_as_failed(log):
    @retold.tool(to_json=lambda value: value.cents, from_json=int)
    def price() -> str:
        return "3"

    with retold.record(log), pytest.raises(TypeError, match="AttributeError: 'str' object has no attribute 'cents'"):
        price()
    with retold.replay(log), pytest.raises(retold.NotRecorded, match="what 'price' gave cannot be recorded as JSON"):
        price()


def test_a_recorded_class_is_not_imported_and_a_strange_value_is_refused():
    assert "turtle" not in sys.modules
    with pytest.raises(NotJson, match="turtle.Turtle"):
        decode({"$retold": "turtle.Turtle", "value": {}})
    assert "turtle" not in sys.modules
    for strange in (object(), complex(1, 2), int):
        with pytest.raises(NotJson):
            encode(strange)


def raised(function: Any) -> Exception:
    with pytest.raises(Exception) as error:
        function()
    return error.value


class Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_that_cannot_say_what_it_is_is_recorded_nevertheless():
    assert isinstance(error_of(error_as_json(Silent("x"))), Silent)


def test_errors_are_raised_as_they_were_or_as_tool_errors():
    errors = [KeyError("k"), FileNotFoundError(2, "none", "file"), NoFlight("Oslo", 3), ValueError("a", 1), ValueError("\udcff")]
    errors += [raised(lambda: b"\xff".decode()), raised(lambda: json.loads("{")), raised(lambda: "a" + 1)]  # type: ignore[operator]
    for error in errors:
        again = error_of(json.loads(json.dumps(error_as_json(error))))
        assert (type(again), str(again), again.args) == (type(error), str(error), error.args)
    # One field that JSON cannot hold does not take the others with it.
    held = NoFlight("Oslo", 3)
    held.lock = object()  # type: ignore[attr-defined]
    assert vars(error_of(error_as_json(held))) == {"city": "Oslo", "code": 3}
    other = error_of({"type": "elsewhere.Broken", "message": "it broke"})
    assert isinstance(other, retold.ToolError) and other.type == "elsewhere.Broken"
    # What is no error is not made, whatever its name.
    assert isinstance(error_of({"type": "os.system", "message": "true"}), retold.ToolError)


def test_a_result_that_is_too_long_is_refused_and_recorded_as_that(log):
    @retold.tool
    def read() -> str:
        return "x" * 70_000_000

    with retold.record(log) as run, pytest.raises(TypeError, match="cannot be recorded as JSON .*too long"):
        read()
    assert run.summary["tools"]["failed"] == 1
    with retold.replay(log), pytest.raises(retold.NotRecorded, match="too long"):
        read()


def test_keys_in_arguments_are_not_stored(log):
    with retold.record(log):
        retold.call_tool("fetch", {"url": "x", "api_key": "sk-0123456789abcdefghij0123"}, lambda url, api_key: "ok")
        log_in("ada", token="t0k3n-0123456789abcdef", url="x")
    written = shown(log, "export", "latest", "-")
    assert "sk-0123456789" not in written and "t0k3n" not in written
    with retold.replay(log):
        retold.call_tool("fetch", {"url": "x", "api_key": "another"}, lambda url, api_key: "never")
        assert log_in("ada", token="another", url="x") == {"url": "x"}


@retold.tool
def log_in(user: str, /, **others: str) -> dict[str, str]:
    return {"url": others["url"]}


def test_an_argument_may_have_the_name_of_one_that_is_given_by_its_place(log):
    with retold.record(log):
        given = log_in("ada", user="b", url="x"), log_in("ada", user="c", url="y")
    with retold.replay(log):
        assert (log_in("ada", user="c", url="y"), log_in("ada", user="b", url="x")) == given[::-1]


def test_a_cassette_of_tools_alone(tmp_path, runs):
    path = tmp_path / "trip.yaml"
    with retold.cassette(path, mode="once"):
        given = trip()
    runs.clear()
    with retold.cassette(path):
        assert trip() == given
    assert runs == [] and "tool: search" in path.read_text()


ASKING = """
import sys

import httpx
import retold

URL = sys.argv[1] + "/v1/chat/completions"

@retold.tool
def fetched(text):
    print("ran", file=sys.stderr)
    return httpx.get(sys.argv[2]).text

@retold.tool
def summarised(text):
    body = {"model": "made-up", "messages": [{"role": "user", "content": text}]}
    return httpx.post(URL, json=body).json()["choices"][0]["message"]["content"]

print(summarised("long"), fetched("page"))
"""


def test_a_tool_that_asks_a_model_runs_in_a_replay_of_the_command_line(log, model, tmp_path):
    script = tmp_path / "study.py"
    script.write_text(ASKING)

    def ended(*words: str) -> tuple[str, str]:
        told = [program(), "--log", log, *words, "--", "sh", "-c", f'{sys.executable} {script} "$OPENAI_BASE_URL" {model.url}']
        done = subprocess.run(told, capture_output=True, text=True, env={**os.environ, "OPENAI_BASE_URL": model.url})
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    said, told = ended("record")
    assert "ran" in told and "2 tool calls" in told
    again, told = ended("replay", "latest")
    assert again == said and "ran" not in told
