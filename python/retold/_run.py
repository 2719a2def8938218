"""A run: what a program says about its calls, and what came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._context import Call, current_call
from ._errors import ReportError
from ._session import ANSWER, PASSED, REFUSED, Session
from ._tool_calls import result_of
from ._tools import call_tool, tool


class Decided(str):
    """The id of a decision, which a notebook shows as what was decided."""

    name: str
    value: Any

    def __new__(cls, given: str, name: str, value: Any) -> Decided:
        decided = super().__new__(cls, given)
        decided.name, decided.value = name, value
        return decided

    def __repr__(self) -> str:
        return f"<decision {self.name}: {self.value!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Decided, (str(self), self.name, self.value)


class _Chance:
    """The draws of a run."""

    def __repr__(self) -> str:
        return "<the draws of the run>"


CHANCE = _Chance()


class Run:
    """The run of an active block."""

    def __init__(self, session: Session) -> None:
        self._session = session
        #: Its id in the log.
        self.id: str = session.server.run
        #: What happened, once the block has ended; as `retold record --json` says it.
        self.summary: dict[str, Any] | None = None

    def call(self, name: str, /, **labels: Any) -> Call:
        """Names the requests that are made inside, and labels them: ``with run.call("vote", participant="p_07"):``.

        Works in threads that are started inside, in executors and in asyncio.
        """
        return Call(name, labels)

    #: The draws of a program that records its chance, for ``because=`` of a fact.
    chance = CHANCE

    #: The decorator `retold.tool`, and the block of one call.
    tool = staticmethod(tool)

    #: The function `retold.call_tool`.
    call_tool = staticmethod(call_tool)

    def decide(
        self,
        name: str,
        value: Any,
        *,
        response: Any = None,
        choice: int | None = None,
        method: str | None = None,
        reasoning: str | None = None,
        warnings: Sequence[str] = (),
    ) -> Decided | None:
        """Records what was made of an answer; returns the id of the decision, which reads as the decision.

        ``response`` is the answer as the client gave it, or its id; without it, the last answer of the call that this
        is in. ``choice`` is the number of the choice, from 0, if the answer has several.
        """
        what: dict[str, Any] = {"name": name, "value": value, "response": _answer(response, name)}
        if choice is not None:
            what["choice"] = choice
        if method is not None:
            what["method"] = method
        if reasoning is not None:
            what["reasoning"] = reasoning
        if warnings:
            what["warnings"] = list(warnings)
        given = self._reported("decisions", what)
        return None if given is None else Decided(given, name, value)

    def fact(self, name: str, value: Any, *, because: Any = (), lane: str | None = None) -> str | None:
        """Records what happened; ``because`` has the answers, decisions and facts that it rests on, and tools,
        which stand for their last results. `run.chance` stands for the program's draws."""
        what: dict[str, Any] = {"name": name, "value": value}
        causes = because if isinstance(because, (list, tuple)) else [because]
        answers = [_answer(one, name) for one in causes if one is not CHANCE]
        if answers:
            what["response"] = answers
        if len(answers) < len(causes):
            what["chance"] = True
        if lane is not None:
            what["lane"] = lane
        return self._reported("facts", what)

    def mark(self, name: str, state: Any) -> None:
        """Records a digest of the program's state, which every replay compares; the state itself is not stored."""
        self._session.report("marks", {"name": name, "state": state})

    def _reported(self, kind: str, what: dict[str, Any]) -> str | None:
        """The id of what was reported; `None` if a replay has nothing to compare it with."""
        given: str | None = self._session.report(kind, what)["id"]
        return given

    @property
    def passed(self) -> dict[str, int]:
        """How often hosts were asked whose requests are not recorded."""
        return self._session.count(PASSED)

    @property
    def refused(self) -> dict[str, int]:
        """How often a replay refused hosts, which the program may not have noticed."""
        return self._session.count(REFUSED)

    def __repr__(self) -> str:
        return f"<retold.Run {self.id}>"


def _answer(response: Any, name: str) -> str:
    """The name by which the server knows an answer."""
    if response is None:
        call = current_call()
        if call is None or call.answer is None:
            raise ReportError(
                f"which answer does {name!r} rest on? Give it as response=, or decide inside `with run.call(..):`, "
                "after the answer was read"
            )
        return call.answer
    if isinstance(response, str):
        return response
    result = result_of(response)
    if result is not None:
        return result
    if isinstance(response, Call):
        if response.answer is None:
            raise ReportError(f"the call {response.name!r} has no answer yet")
        return response.answer
    headers = getattr(response, "headers", None)
    if headers is not None and headers.get(ANSWER):
        return str(headers[ANSWER])
    # LangChain keeps the provider's id here, and has an id of its own.
    metadata = getattr(response, "response_metadata", None)
    for found in (metadata.get("id") if isinstance(metadata, dict) else None, getattr(response, "id", None)):
        if isinstance(found, str) and found:
            return found
    if isinstance(response, dict) and isinstance(response.get("id"), str):
        return str(response["id"])
    raise ReportError(
        f"{type(response).__name__} has no id by which retold knows the answer: decide inside `with run.call(..):`, "
        "and leave out response="
    )
