"""What was read of an answer, by an SDK or by retold."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from texts import joined


@dataclass
class Reading:
    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    #: Name and arguments of each tool call, in order.
    calls: list[tuple[str, str]] = field(default_factory=list)
    finish: str | None = None
    #: Tokens of the prompt and of the answer.
    usage: tuple[int | None, int | None] | None = None
    #: The other choices of a chat completion, each with its text, calls and finish reason.
    others: list[Reading] = field(default_factory=list)
    #: The index of the choice.
    index: int = 0
    #: Why the reader stopped before the end.
    error: str | None = None
    #: Whether the provider said in the stream that it failed.
    failed: bool = False
    #: Whether this is all: of a failed attempt, retold has only the text.
    only_text: bool = False

    def tidy(self) -> Reading:
        self.text, self.reasoning, self.refusal = joined(self.text), joined(self.reasoning), joined(self.refusal)
        self.calls = [(joined(name or ""), arguments(given)) for name, given in self.calls]
        if self.usage == (None, None):
            self.usage = None
        for other in self.others:
            other.tidy()
        return self

    def parts(self) -> list[Any]:
        others = [other.parts() for other in self.others]
        return [self.index, self.text, self.reasoning, self.refusal, self.calls, self.finish, self.usage, others]

    def equals(self, other: Reading) -> bool:
        """Whether retold's reading is that of an SDK, which must not take a failure for an answer."""
        if other.failed and not self.only_text:
            return False
        if self.only_text or other.only_text:
            return self.text == other.text
        return self.parts() == other.parts()

    def covers(self, less: Reading) -> bool:
        """Whether this has all that `less` has, which was read up to an earlier point, and perhaps more."""
        if less.failed and not self.only_text:
            return False
        if self.only_text:
            # That is the text of the first choice.
            return less.index > 0 or begins(self.text, less.text)
        choices = {choice.index: choice for choice in [self, *self.others]}
        return all(
            choice.index in choices and choices[choice.index].continues(choice)
            for choice in [less, *less.others]
            if choice.text or choice.calls or choice.refusal or choice.reasoning
        )

    def continues(self, less: Reading) -> bool:
        texts = [(self.text, less.text), (self.reasoning, less.reasoning), (self.refusal, less.refusal)]
        # A call with a smaller index may come later.
        mine = iter(self.calls)
        calls = all(
            any(name == call[0] and (given == call[1] or not is_whole(call[1])) for name, given in mine)
            for call in less.calls
        )
        return calls and all(begins(mine, theirs) for mine, theirs in texts)


def is_whole(arguments: str) -> bool:
    """Whether these are all arguments of a call."""
    try:
        return bool(json.loads(arguments))
    except ValueError:
        return False


def begins(whole: str, part: str) -> bool:
    """Whether a text begins with another, which may end in the first half of a surrogate pair."""
    return whole.startswith(part) or (part.endswith("\ufffd") and whole.startswith(part[:-1]))


def arguments(given: Any) -> str:
    """The arguments of a call, in one spelling if they are whole."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return joined(given)
    return joined(json.dumps(given, sort_keys=True, ensure_ascii=False)) if given is not None else "{}"


def counts(answer: Any) -> tuple[int | None, int | None]:
    """The tokens of an answer, as the body of its event has them."""
    return answer.get("prompt_tokens"), answer.get("completion_tokens")
