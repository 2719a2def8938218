"""A figure as an object, and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._ask import ask, ask_for_text


class Figure(dict[str, Any]):
    """The object that ``retold stats --json`` has of a figure. A notebook shows it as a picture.

    ``groups`` have ``value`` and ``interval``, ``differences`` have their ``test``.
    """

    def __init__(self, log: str, arguments: Sequence[str]) -> None:
        super().__init__(_figure(ask(log, arguments)))
        self._asked = (log, tuple(arguments))

    def svg(self) -> str:
        """The picture, as wide as a column of a paper, with its definition, its notes and its numbers inside."""
        log, arguments = self._asked
        return ask_for_text(log, [*arguments, "--output=-"])

    def _repr_html_(self) -> str:
        return self.svg()


def _figure(said: Mapping[str, Any]) -> dict[str, Any]:
    (found,) = said["figures"]
    return dict(found)


class Agreement(dict[str, Any]):
    """The object that ``retold score agreement --json`` has. A notebook shows which values each two gave as a picture."""

    def __init__(self, log: str, arguments: Sequence[str], of: Sequence[str]) -> None:
        super().__init__(ask(log, [*arguments, "--", *of]))
        self._asked = (log, tuple(arguments), tuple(of))

    def svg(self) -> str:
        """The picture, as wide as a column of a paper, with its coefficients and its numbers inside."""
        log, arguments, of = self._asked
        return ask_for_text(log, [*arguments, "--output=-", "--", *of])

    def _repr_html_(self) -> str | None:
        return self.svg() if any(pair["matrix"] for pair in self["pairs"]) else None
