"""Suites that were written for vcrpy and pytest-recording, as they are: used once ``retold_vcr = true`` is set."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ._cassette import Cassette
from ._errors import RetoldWarning
from ._hosts import Host
from ._run import Run
from ._vcr_filters import FILTERS, refuse_to_record, request_filter

#: What their record modes are here.
_MODES = {"none": "none", "once": "once", "new_episodes": "new", "all": "all", "rewrite": "all"}

#: What needs nothing: requests are matched as a whole, and headers that hold keys are never kept.
_NEEDLESS = {
    "match_on",
    "decode_compressed_response",
    "path_transformer",
    "cassette_library_dir",
    "record_on_exception",
    "drop_unused_requests",
}
_HONOURED = {"record_mode", "ignore_hosts", "ignore_localhost", "ignore", "allowed_hosts", "serializer", *FILTERS}

#: Whether cassettes are only replayed, whatever the suite says: its requests are compared (`retold.drift`).
COMPARED: pytest.StashKey[bool] = pytest.StashKey()
#: The run of a test, and whether there is a cassette of it.
RUN: pytest.StashKey[tuple[Run, bool]] = pytest.StashKey()

#: The longest name of a file, in bytes.
_LONGEST = 255


def pytest_configure(config: pytest.Config) -> None:
    # A hook of pytest-recording, for conftest files.
    hook = getattr(config.hook, "pytest_recording_configure", None)
    if hook is not None and hook.get_hookimpls():
        warnings.warn("retold does not call pytest_recording_configure", RetoldWarning, stacklevel=2)


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
    default = request.node.get_closest_marker("default_cassette")
    if default is not None and default.args:
        return str(default.args[0])
    parts = [] if request.cls is None else [request.cls.__name__]
    return re.sub(r"[<>?%*:|\"'/\\]", "-", ".".join([*parts, request.node.name]))


@pytest.fixture
def vcr(request: pytest.FixtureRequest) -> Run | None:
    """Takes the place of the fixture of this name of pytest-recording, which would open a cassette of its own."""
    return request.getfixturevalue("_retold_vcr") if _is_taken(request.node) else None


@pytest.fixture
def block_network(request: pytest.FixtureRequest) -> Iterator[None]:
    """Takes the place of the fixture of pytest-recording, which would block the way to retold.

    A replay blocks the network in any case; tests without a cassette are blocked as pytest-recording does it.
    """
    marker = request.node.get_closest_marker("block_network")
    asked = marker is not None or request.config.getoption("--block-network", False)
    if not asked or _is_taken(request.node) or request.node.get_closest_marker("retold") is not None:
        yield
        return
    from pytest_recording.network import blocking_context
    from pytest_recording.validation import validate_block_network_mark

    if marker is not None:
        validate_block_network_mark(marker)
    with blocking_context(allowed_hosts=request.getfixturevalue("allowed_hosts")):
        yield


def _is_taken(item: Any) -> bool:
    """Whether a test has a cassette of vcrpy."""
    return item.get_closest_marker("vcr") is not None and not item.config.getoption("--disable-recording", False)


@pytest.fixture
def _retold_vcr(
    request: pytest.FixtureRequest, vcr_config: dict[str, Any], vcr_cassette_dir: str, default_cassette_name: str
) -> Iterator[Run | None]:
    """The run of a test that is marked with `vcr`."""
    from .pytest_plugin import attempt, finish

    if not _is_taken(request.node):
        yield None
        return
    options = dict(vcr_config)
    others: list[Path] = []
    # The marker of a test counts for more than that of its class or module.
    for marker in reversed(list(request.node.iter_markers("vcr"))):
        others.extend(Path(vcr_cassette_dir, name) for name in marker.args)
        options.update(marker.kwargs)
    path = Path(vcr_cassette_dir, _file_name(default_cassette_name, options))
    filtered = request_filter(options)
    block = Cassette(
        path,
        _mode(request, options),
        # It records whatever is asked.
        hosts=("*",),
        exclude=_excluded(options),
        allow_hosts=_allowed(options),
        unused=_unused(request.config),
        also=others,
        _rewrite=filtered,
        _attempt=attempt(path, request.config),
    )
    if block.records:
        refuse_to_record(options)
    _say_what_is_left(options)
    run = block.__enter__()
    request.node.stash[RUN] = run, block.exists
    yield run
    finish(request.node, block, filtered.refused if filtered is not None else None)


def _file_name(name: str, options: dict[str, Any]) -> str:
    """The name of the file of a cassette, as pytest-recording makes it."""
    ending = f".{options.get('serializer', 'yaml')}"
    # It leaves out the dot where a serializer is given.
    longest = _LONGEST - len(options.get("serializer", ".yaml"))
    if len(name) > longest:
        digits = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
        name = f"{name[: longest - len(digits) - 3]}...{digits}"
    return name if name.endswith(ending) else name + ending


def _mode(request: pytest.FixtureRequest, options: dict[str, Any]) -> str:
    if request.config.stash.get(COMPARED, False):
        return "none"
    asked = str(request.config.getoption("--retold"))
    if asked != "none":
        return asked
    # Of pytest-recording, if it is installed.
    return _mode_of(request.config.getoption("--record-mode", None) or options.get("record_mode") or "none")


def _mode_of(given: Any) -> str:
    mode = _MODES.get(str(given))
    if mode is None:
        raise pytest.UsageError(f"record_mode is one of {', '.join(_MODES)}, not {given!r}")
    return mode


def _unused(config: pytest.Config) -> str:
    # vcrpy does not mind.
    return config.getini("retold_unused") or "warn"


def _excluded(options: dict[str, Any]) -> list[Host]:
    hosts: list[Host] = list(options.get("ignore_hosts") or ())
    if options.get("ignore_localhost"):
        hosts += ["localhost", "127.0.0.1", "0.0.0.0", "::1"]
    return hosts


def _allowed(options: dict[str, Any]) -> list[Host]:
    hosts = options.get("allowed_hosts") or ()
    # Regular expressions that fit the beginning of a name.
    return [re.compile(f"(?:{host}).*") for host in (hosts.split(",") if isinstance(hosts, str) else hosts)]


def _say_what_is_left(options: dict[str, Any]) -> None:
    left = sorted(set(options) - _NEEDLESS - _HONOURED)
    if left:
        warnings.warn(f"retold does not apply {', '.join(left)} of vcr_config", RetoldWarning, stacklevel=2)
