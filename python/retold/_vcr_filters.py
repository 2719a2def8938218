"""What `vcr_config` makes of requests: its functions and filters, composed by vcrpy itself.

vcrpy looks up what they return, so a cassette that was recorded with them holds what they return. A replay looks that up
as well. A recording of retold has what was sent, so they may only leave a request out, or as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from ._asked import Asked
from ._errors import BlockError

#: Options of vcr_config that may change a request, or leave it out.
_CHANGES = ("before_record_request", "before_record", "filter_query_parameters", "filter_post_data_parameters")
#: Those, and what else vcrpy composes them with.
FILTERS = (*_CHANGES, "filter_nested_post_data_parameters", "filter_headers")


def request_filter(options: dict[str, Any]) -> RequestFilter | None:
    """What these options make of requests; `None` if they leave them as they are."""
    given = [name for name in _CHANGES if options.get(name)]
    if not given:
        return None
    try:
        from vcr import VCR  # type: ignore[import-untyped]
    except ImportError:
        if given == ["filter_query_parameters"] and all(_is_a_key(name) for name in _names(options[given[0]])):
            # It leaves out what retold leaves out by itself.
            return None
        raise pytest.UsageError(
            f"{' and '.join(given)} of vcr_config get requests of vcrpy, which is not installed: keep vcrpy installed "
            "(`pip install vcrpy`), or take them out of vcr_config"
        ) from None
    known = {name: options[name] for name in FILTERS if options.get(name)}
    return RequestFilter(given, VCR().get_merged_config(**known)["before_record_request"])


def refuse_to_record(options: dict[str, Any]) -> None:
    """Refuses a recording whose answers would have to be changed."""
    if options.get("before_record_response"):
        raise pytest.UsageError(
            "before_record_response of vcr_config changes answers before they are recorded, and retold records what was "
            "answered: record this test with vcrpy (`pytest -o retold_vcr=false --record-mode=once`), whose cassette "
            "retold replays, or take the function out of vcr_config"
        )


class RequestFilter:
    """Makes of a request what vcrpy looks up or records."""

    def __init__(self, names: list[str], function: Callable[[Any], Any]) -> None:
        self._names, self._function = " and ".join(names), function
        #: Why a request was not sent, which its client may have kept to itself.
        self.refused: BlockError | None = None

    def __call__(self, asked: Asked, offline: bool) -> Asked | None:
        from vcr.request import Request  # type: ignore[import-untyped]

        given = self._function(Request(asked.method, asked.url, asked.body, dict(asked.headers)))
        if not given:
            return None
        try:
            now = Asked(given.method, given.uri, dict(given.headers), _bytes(given.body))
        except (AttributeError, TypeError) as error:
            self.refused = BlockError(
                f"retold: {self._names} of vcr_config returned {type(given).__name__} for {asked.place}, which is not a "
                f"request ({error}): return the request, or None"
            )
            raise self.refused from error
        if offline:
            return asked if now == asked else now
        changed = _changed(asked, now)
        if changed is not None:
            self.refused = BlockError(
                f"retold: {self._names} of vcr_config changes the {changed} of {asked.place}, and retold records what is "
                "sent: record this test with vcrpy (`pytest -o retold_vcr=false --record-mode=once`), whose cassette "
                "retold replays. For a value that differs each time and is not a secret, use "
                "@pytest.mark.retold(ignore=.., replace=..)"
            )
            raise self.refused
        return asked


def _changed(before: Asked, now: Asked) -> str | None:
    """The first part of a request that differs and is recorded."""
    if before.method != now.method:
        return "method"
    if _address(before.url) != _address(now.url):
        return "URL"
    return None if _same_body(before.body or b"", now.body or b"") else "body"


def _address(url: str) -> tuple[Any, ...]:
    # vcrpy sorts the parameters that it keeps.
    parts = urlsplit(url)
    query = sorted(pair for pair in parse_qsl(parts.query) if not _is_a_key(pair[0]))
    return parts.scheme, parts.netloc, parts.path or "/", query


def _same_body(before: bytes, now: bytes) -> bool:
    if before == now:
        return True
    try:
        # vcrpy writes JSON again, with other spaces.
        return json.dumps(json.loads(before), sort_keys=True) == json.dumps(json.loads(now), sort_keys=True)
    except ValueError:
        return False


def _bytes(body: Any) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    if hasattr(body, "read"):
        return _bytes(body.read())
    if isinstance(body, bytearray):
        return bytes(body)
    raise TypeError(f"its body is {type(body).__name__}")


def _names(parameters: Iterable[Any]) -> list[str]:
    """The names of parameters, each of which may come with what replaces its value."""
    return [str(one[0] if isinstance(one, tuple) else one) for one in parameters]


def _is_a_key(name: str) -> bool:
    """Whether retold neither stores nor compares a query parameter of this name."""
    from . import _retold

    return _retold.is_a_key(name)
