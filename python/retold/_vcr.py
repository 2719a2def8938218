"""Suites that were written for vcrpy and pytest-recording, as they are: used once ``retold_vcr = true`` is set."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ._cassette import Cassette
from ._errors import RetoldWarning
from ._run import Run

#: What their record modes are here.
_MODES = {"none": "none", "once": "once", "new_episodes": "new", "all": "all", "rewrite": "all"}

#: What needs nothing: requests are matched as a whole, and headers that hold keys are never kept.
_NEEDLESS = {
    "match_on",
    "filter_headers",
    "filter_query_parameters",
    "decode_compressed_response",
    "serializer",
    "path_transformer",
    "cassette_library_dir",
    "record_on_exception",
    "drop_unused_requests",
}
_HONOURED = {"record_mode", "ignore_hosts", "ignore_localhost", "ignore"}


@pytest.fixture(scope="module")
def vcr_config() -> dict[str, Any]:
    """The configuration of a suite, which it overrides."""
    return {}


@pytest.fixture(scope="module")
def vcr_cassette_dir(request: pytest.FixtureRequest) -> str:
    """The folder of cassettes, which a suite may override."""
    module = Path(request.node.path)
    return str(module.parent / "cassettes" / module.stem)


@pytest.fixture
def default_cassette_name(request: pytest.FixtureRequest) -> str:
    """The name of a test's cassette without its ending, as pytest-recording makes it."""
    parts = [] if request.cls is None else [request.cls.__name__]
    return re.sub(r"[<>?%*:|\"'/\\]", "-", ".".join([*parts, request.node.name]))


@pytest.fixture
def vcr(request: pytest.FixtureRequest) -> Run | None:
    """Takes the place of the fixture of this name of pytest-recording, which would open a cassette of its own."""
    marked = request.node.get_closest_marker("vcr") is not None
    return request.getfixturevalue("_retold_vcr") if marked else None


@pytest.fixture
def block_network() -> None:
    """Takes the place of the fixture of pytest-recording: a replay blocks the network in any case."""


@pytest.fixture
def _retold_vcr(
    request: pytest.FixtureRequest, vcr_config: dict[str, Any], vcr_cassette_dir: str, default_cassette_name: str
) -> Iterator[Run]:
    """The run of a test that is marked with `vcr`."""
    from .pytest_plugin import finish

    options = dict(vcr_config)
    names: list[str] = []
    for marker in request.node.iter_markers("vcr"):
        names.extend(marker.args)
        options.update(marker.kwargs)
    default = request.node.get_closest_marker("default_cassette")
    name = default.args[0] if default is not None and default.args else f"{default_cassette_name}.yaml"
    if names:
        if len(names) > 1:
            raise pytest.UsageError(f"{request.node.nodeid}: a test replays one cassette, and its marker names {len(names)}")
        name = names[0]
    path = Path(name)
    path = path if path.is_absolute() else Path(vcr_cassette_dir) / path
    block = Cassette(path, _mode(request, options), exclude=_excluded(options), unused=_unused(request.config))
    _say_what_is_left(options)
    run = block.__enter__()
    yield run
    finish(request.node, block)


def _mode(request: pytest.FixtureRequest, options: dict[str, Any]) -> str:
    asked = str(request.config.getoption("--retold"))
    if asked != "none":
        return asked
    # Of pytest-recording, if it is installed.
    given = request.config.getoption("--record-mode", None) or options.get("record_mode") or "none"
    mode = _MODES.get(str(given))
    if mode is None:
        raise pytest.UsageError(f"record_mode is one of {', '.join(_MODES)}, not {given!r}")
    return mode


def _unused(config: pytest.Config) -> str:
    # vcrpy does not mind.
    return config.getini("retold_unused") or "warn"


def _excluded(options: dict[str, Any]) -> list[str]:
    hosts = list(options.get("ignore_hosts") or ())
    if options.get("ignore_localhost"):
        hosts += ["localhost", "127.0.0.1", "0.0.0.0"]
    return hosts


def _say_what_is_left(options: dict[str, Any]) -> None:
    left = sorted(set(options) - _NEEDLESS - _HONOURED)
    if left:
        warnings.warn(f"retold does not apply {', '.join(left)} of vcr_config", RetoldWarning, stacklevel=2)
