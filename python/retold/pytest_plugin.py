"""The plugin for pytest: a cassette for each test that asks for one.

Tests are replayed strictly unless ``--retold`` says otherwise: a request that is not in the cassette fails the test with
the difference, and so does an answer that it never asks for.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import textwrap
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ExceptionChainRepr, ReprEntryNative, ReprFileLocation, ReprTraceback

from ._cassette import MODES, Cassette
from ._drift import Drift
from ._environ import place_keys
from ._errors import ReplayMismatch, RetoldError
from ._parts import Parts
from ._run import Run
from ._seal import seal

#: Keys that SDKs want before they start, of which there are placeholders, so that clients can be made at import.
_KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "MISTRAL_API_KEY",
    "GROQ_API_KEY",
    "TOGETHER_API_KEY",
    "CEREBRAS_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
)

#: Without one, clients of AWS do not start either.
_REGION = "AWS_DEFAULT_REGION"

#: The longest name of a cassette's file.
_LONGEST = 100

#: What has a cassette of its own.
_PER = ("test", "module", "session")

_OPTIONS = ("path", "hosts", "exclude", "allow_hosts", "ignore", "replace", "unused")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("retold", "recorded answers of models")
    group.addoption(
        "--retold",
        choices=[*MODES, "drift"],
        default="none",
        help="what is done with cassettes: none (replay strictly, the default), once (record if there is none), new "
        "(replay, and record what is new), all (record again), drift (ask, and report what differs; nothing is written)",
    )
    group.addoption(
        "--retold-cassette-per",
        choices=list(_PER),
        default=None,
        help="one cassette for each test (the default), for all tests of a module, or for all that are run",
    )
    group.addoption(
        "--retold-sealed",
        action="store_true",
        help="on Linux: refuse every connection of TCP of the tests and of all that they start (Landlock), but to ports that the "
        "system gives to servers, and those of retold_sealed_ports",
    )
    parser.addini("retold_sealed_ports", "ports that sealed tests may reach, on whatever host", type="args", default=[])
    parser.addini("retold_cassette_per", "test, module or session: see --retold-cassette-per", default="test")
    parser.addini("retold_unused", "what becomes of answers that no test asks for: error (the default), warn or ignore")
    parser.addini("retold_vcr", "take tests that are marked with vcr, instead of pytest-recording", type="bool")
    parser.addini("retold_cassettes", "the folder of cassettes, beside each module", default="cassettes")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "retold(path=None, hosts=(), exclude=(), allow_hosts=(), ignore=(), replace=(), unused='error'): replay what the "
        "test asks models from a cassette",
    )
    if config.getoption("--retold-sealed"):
        _seal(config)
    if config.getini("retold_vcr"):
        from . import _vcr

        # After pytest-recording, if it is installed: these fixtures take the place of those.
        config.pluginmanager.register(_vcr, "retold-vcr")
        config.addinivalue_line("markers", "vcr: replay what the test asks models from its cassette")
        config.addinivalue_line("markers", "default_cassette(name): the cassette of the test")
    if config.getoption("--retold") == "none":
        # Before tests are collected, because clients are made at import.
        place_keys(_KEYS)
        if _REGION not in os.environ:
            os.environ[_REGION] = "us-east-1"
            config.add_cleanup(_forget_the_region)


def _forget_the_region() -> None:
    os.environ.pop(_REGION, None)


def _seal(config: pytest.Config) -> None:
    if config.getoption("--retold") != "none":
        raise pytest.UsageError("--retold-sealed is for replays: a recording asks the model")
    ports = config.getini("retold_sealed_ports")
    if not all(port.isdecimal() and 0 < int(port) < 65536 for port in ports):
        raise pytest.UsageError(f"retold_sealed_ports are numbers from 1 to 65535, not {' '.join(ports)}")
    try:
        seal(map(int, ports))
    except RetoldError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        names = getattr(item, "fixturenames", None)
        if names is None:
            continue
        # First, so that it is active before other fixtures ask something.
        if item.get_closest_marker("retold") is not None and "retold" not in names:
            names.insert(0, "retold")
        elif item.get_closest_marker("vcr") is not None and item.config.getini("retold_vcr"):
            names.insert(0, "_retold_vcr")
        per = _per(item.config)
        if "retold" in names and per != "test":
            # Also before fixtures of wider scope.
            names.insert(0, f"_retold_of_{per}")


@pytest.fixture
def retold(request: pytest.FixtureRequest) -> Iterator[Run]:
    """The run of this test: its requests to models are replayed from its cassette."""
    per = _per(request.config)
    if per != "test":
        yield request.getfixturevalue(f"_retold_of_{per}")
        return
    yield from _block(request.node, "test", request.config)


@pytest.fixture(scope="module")
def _retold_of_module(request: pytest.FixtureRequest) -> Iterator[Run]:
    """The run of all tests of a module."""
    _refuse_workers(request.config, "a module")
    yield from _block(request.node, "module", request.config)


@pytest.fixture(scope="session")
def _retold_of_session(request: pytest.FixtureRequest) -> Iterator[Run]:
    """The run of all tests."""
    _refuse_workers(request.config, "all tests")
    yield from _block(request.node, "session", request.config)


def _refuse_workers(config: pytest.Config, whose: str) -> None:
    # What pytest-xdist gives its workers.
    if hasattr(config, "workerinput") and config.getoption("--retold") != "none":
        raise pytest.UsageError(f"one cassette for {whose} cannot be recorded by several processes: leave out -n")


def _block(node: Any, per: str, config: pytest.Config) -> Iterator[Run]:
    given = _options(node)
    mode, unused = config.getoption("--retold"), given.pop("unused", None) or config.getini("retold_unused") or "error"
    # Which of its answers belong to tests that were not selected is not known.
    unused = "ignore" if per != "test" else unused
    path = _path(node, per, given.pop("path", None), config.getini("retold_cassettes"))
    owner = config.stash.setdefault(_OWNERS, {}).setdefault(path, node.nodeid)
    if owner != node.nodeid:
        raise pytest.UsageError(
            f"{node.nodeid} and {owner} have the same cassette, {path}: give each its own, or one to the whole module "
            "with --retold-cassette-per=module"
        )
    block: Any
    if mode == "drift":
        block = Drift(path, pending=_pending(path, config), **given)
    else:
        block = Cassette(path, mode, unused=unused, _attempt=attempt(path, config), **given)
        block.is_of_several = per != "test"
    run = block.__enter__()
    if per == "test":
        yield run
    else:
        parts = _parts(config)
        parts.share(run)
        yield run
        parts.share(None)
    finish(node, block)


def attempt(cassette: Path, config: pytest.Config) -> Path | None:
    """Where what a test has paid for waits if it does not pass: in pytest's cache. A rerun in the same session asks again."""
    cache: Any = getattr(config, "cache", None)
    if cache is None or not cassette.is_relative_to(config.rootpath):
        return None
    folder: Path = Path(cache.mkdir("retold-attempts")) / cassette.relative_to(config.rootpath)
    begun = config.stash.setdefault(_BEGUN, set())
    if folder in begun and folder.exists():
        shutil.rmtree(folder)
    begun.add(folder)
    return folder


def _pending(cassette: Path, config: pytest.Config) -> Path | None:
    """Where what was asked now waits for `retold cassette review`: in pytest's cache, at the path of the cassette."""
    cache: Any = getattr(config, "cache", None)
    if cache is None or not cassette.is_relative_to(config.rootpath):
        return None
    folder = Path(cache.mkdir("retold"))
    # By which the cassettes are found from there.
    (folder / "rootdir").write_text(f"{config.rootpath}\n", encoding="utf-8")
    return folder / cassette.relative_to(config.rootpath)


def finish(node: Any, block: Any, refused: RetoldError | None = None) -> None:
    """Ends the block of a test, which may have failed, or had a request refused that its client kept to itself."""
    own = next(iter(node.stash.get(_OPEN, {}).values()), None)
    failed = own or refused
    try:
        if isinstance(block, Cassette):
            _end(block, failed, node.config)
        else:
            block.__exit__(type(failed) if failed else None, failed, None)
    except ReplayMismatch as mismatch:
        node.config.stash.setdefault(_DIFFERENCES, []).append(mismatch.report)
        # The test failed with the same difference already.
        if mismatch.is_of_cassette or "retold replay: " not in str(failed):
            raise
    if refused is not None and own is None:
        raise refused


def _end(cassette: Cassette, failed: BaseException | None, config: pytest.Config) -> None:
    try:
        cassette.end(failed)
    except BaseException:
        cassette.discard()
        raise
    if failed is None:
        # Other fixtures may still fail when they are torn down.
        config.stash.setdefault(_ENDED, []).append(cassette)
    else:
        cassette.discard()


def _settle(config: pytest.Config, is_kept: bool) -> None:
    """Writes the cassettes of blocks that have ended, or lets their answers wait."""
    ended = config.stash.get(_ENDED, [])
    while ended:
        cassette = ended.pop()
        if is_kept:
            cassette.keep()
        else:
            cassette.discard()


def _parts(config: pytest.Config) -> Parts:
    return config.stash.setdefault(_PARTS, Parts())


def _part(node: Any, *more: str) -> str:
    """The name of a test, or of what is in a node, within the cassette that it shares."""
    file, *names = node.nodeid.split("::")
    names = [*names, *more] if _per(node.config) == "module" else [*file.split("/"), *names, *more]
    return "/".join(_file_name(name) for name in names if name)


def _per(config: pytest.Config) -> str:
    per = config.getoption("--retold-cassette-per") or config.getini("retold_cassette_per")
    if per not in _PER:
        raise pytest.UsageError(f"retold_cassette_per is {', '.join(_PER[:-1])} or {_PER[-1]}, not {per!r}")
    return str(per)


#: Which test a cassette belongs to.
_OWNERS: pytest.StashKey[dict[Path, str]] = pytest.StashKey()
#: Tests that have not passed, with the reason: of a test itself, and of what has a block for several.
_OPEN: pytest.StashKey[dict[str, BaseException]] = pytest.StashKey()
#: Cassettes whose blocks have ended, and whose tests may still fail.
_ENDED: pytest.StashKey[list[Cassette]] = pytest.StashKey()
#: Which part of the test run asks.
_PARTS: pytest.StashKey[Parts] = pytest.StashKey()
#: What was found to differ, until it is in a report.
_DIFFERENCES: pytest.StashKey[list[str]] = pytest.StashKey()
#: Attempts of this session.
_BEGUN: pytest.StashKey[set[Path]] = pytest.StashKey()


class _NotAtItsEnd(KeyboardInterrupt):
    """A test whose end nobody has seen: it was interrupted."""


def _note(item: pytest.Item, reason: BaseException | None) -> None:
    for node in item.iter_parents():
        unfinished = node.stash.setdefault(_OPEN, {})
        if reason is not None:
            unfinished[item.nodeid] = reason
        elif isinstance(unfinished.get(item.nodeid), _NotAtItsEnd):
            # A part of it may have failed that is reported by itself.
            del unfinished[item.nodeid]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    # A cassette is written only by tests that passed, at their last attempt.
    _note(item, _NotAtItsEnd())
    _parts(item.config).begin(_part(item))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
    if fixturedef.scope == "function":
        return (yield)
    # The test that is run first makes it, and another one if that is left out.
    variant = f"[{request.param_index}]" if hasattr(request, "param") else ""
    name = _part(request.node, f"{fixturedef.argname}{variant}")
    with _parts(request.config).fixture(name, fixturedef.addfinalizer):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    try:
        result = yield
    except pytest.skip.Exception:
        _note(item, None)
        raise
    except BaseException as error:
        _note(item, error)
        raise
    _note(item, None)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    report = yield
    if report.when == "teardown":
        _settle(item.config, report.passed)
        # A worker of pytest-xdist sends its reports to where the summary is written.
        report.retold_differences = item.config.stash.get(_DIFFERENCES, [])
        item.config.stash[_DIFFERENCES] = []
    elif report.when == "setup" and report.skipped:
        _note(item, None)
    elif report.failed and call.excinfo is not None:
        # Of unittest, which does not raise them, or of a subtest.
        _note(item, call.excinfo.value)
    if report.failed and call.excinfo is not None and isinstance(call.excinfo.value, RetoldError):
        report.longrepr = _shown(call.excinfo.value)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says at the end what differs from the cassettes, which may be far up, or behind errors of clients."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    found = {report.nodeid: report.retold_differences for report in reports if getattr(report, "retold_differences", None)}
    if not found:
        return
    terminalreporter.section("retold: what differs from the cassettes")
    for test, differences in found.items():
        terminalreporter.write_line(test, bold=True)
        for difference in differences:
            terminalreporter.write_line(textwrap.indent(difference, "  "))
    terminalreporter.write_line("If a change is meant, record these tests again: pytest --retold=all TEST")


def pytest_unconfigure(config: pytest.Config) -> None:
    _settle(config, is_kept=False)
    place_keys(())


def _options(item: pytest.Item | pytest.Module | pytest.Session) -> dict[str, Any]:
    given: dict[str, Any] = {}
    # The nearest marker comes first, and counts more than that of its class or module.
    for marker in item.iter_markers("retold"):
        for name, value in marker.kwargs.items():
            if name not in _OPTIONS:
                raise pytest.UsageError(
                    f"{item.nodeid}: @pytest.mark.retold has no option {name!r}; it has {', '.join(_OPTIONS)}"
                )
            given.setdefault(name, value)
        if marker.args:
            given.setdefault("path", marker.args[0])
    return given


def _path(item: pytest.Item | pytest.Module | pytest.Session, per: str, given: str | None, folder: str) -> Path:
    if per == "session":
        return item.config.rootpath / (given or Path(folder, "session.yaml"))
    module = Path(item.path)
    if given is not None:
        return module.parent / given
    base = module.parent / folder / module.stem
    if per == "module":
        return base.with_suffix(".yaml")
    parts = [part for part in item.nodeid.split("::")[1:]]
    return base / f"{_file_name('.'.join(parts))}.yaml"


def _file_name(name: str) -> str:
    """A name that every file system takes; a hash tells those apart that would be equal."""
    plain = re.sub(r"[^A-Za-z0-9._\[\]=,-]+", "-", name).strip("-")
    if plain == name and len(plain) <= _LONGEST:
        return plain
    digits = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{plain[: _LONGEST - 9]}-{digits}"


def _shown(error: RetoldError) -> ExceptionChainRepr:
    """An error of ours as its message alone: where in retold it was raised says nothing. The summary has its first line."""
    text = f"{type(error).__name__}: {error}"
    place = ReprFileLocation("retold", 0, text.partition("\n")[0])
    return ExceptionChainRepr([(ReprTraceback([ReprEntryNative([f"{text}\n"])], None, "native"), place, None)])
