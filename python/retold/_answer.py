"""A recorded answer, as functions that decide about it get it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Answer(str):
    """The text of a recorded answer, with what is known of its call.

    It is a ``str``: functions that take a text take it as it is.
    """

    #: The run that it is in, and its position there.
    run: str
    seq: int
    #: Where it was asked, and the n-th answer of this call, from 0.
    call: str
    sample: int
    #: What the call belongs to, such as ``{"participant": "p_07"}``.
    labels: Mapping[str, str]
    #: The model that answered, the reasoning that the API keeps apart, and the tools that the model calls.
    model: str | None
    reasoning: str | None
    tool_calls: list[Any]
    #: Why the answer ended.
    finish_reason: str | None

    @classmethod
    def _of(cls, row: Mapping[str, Any], labels: Mapping[str, str]) -> Answer:
        answer = cls(row["answer"] or "")
        answer.run, answer.seq = row["run"], row["answer_seq"]
        answer.call, answer.sample, answer.labels = row["call"], row["sample"], labels
        answer.model = row["response_model"] or row["request_model"]
        answer.reasoning, answer.tool_calls = row["reasoning"], row["tool_calls"] or []
        answer.finish_reason = row["finish_reason"]
        return answer

    def __repr__(self) -> str:
        return f"<retold.Answer {self.call}#{self.sample} {str.__repr__(self)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Processes of an executor get it whole.
        return _restored, (str(self), self.__dict__)


def _restored(text: str, known: dict[str, Any]) -> Answer:
    answer = Answer(text)
    answer.__dict__.update(known)
    return answer
