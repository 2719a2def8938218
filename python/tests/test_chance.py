"""The laws of a program's own chance: the same draws from the same seed, whatever the order in which things are done."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import importlib
import json
import multiprocessing.pool
import os
import pickle
import random
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import choice as early_choice
from random import random as early_random
from typing import Any

import pytest

from retold import _chance

np = pytest.importorskip("numpy")

SEED, OTHER = "00112233445566778899aabbccddeeff", "f0112233445566778899aabbccddeeff"


@contextmanager
def drawing(seed: str = SEED) -> Iterator[None]:
    chance = _chance.install(seed)
    try:
        yield
    finally:
        _chance.remove(chance)


def twice(draw: Callable[[], Any]) -> Any:
    """What is drawn, after it was drawn again from the same seed, and otherwise from another."""
    drawn = []
    for seed in (SEED, SEED, OTHER):
        with drawing(seed):
            drawn.append(repr(draw()))
    assert drawn[0] == drawn[1] != drawn[2]
    return drawn[0]


def each(*_: object) -> float:
    """At module level, as processes need it."""
    return random.random()


def pair(_: object, __: object) -> tuple[float, float]:
    return random.random(), float(np.random.rand())


@pytest.mark.parametrize(
    "draw",
    [
        lambda: random.random(),
        lambda: (random.getrandbits(70), random.randbytes(9), random.randint(1, 6), random.randrange(9)),
        lambda: (random.choice("abcdef"), random.choices("abc", k=9), random.sample(range(99), 5)),
        lambda: (random.gauss(0, 1), random.gauss(0, 1), random.normalvariate(0, 1), random.triangular()),
        lambda: (early_random(), early_choice(range(10**6))),
        lambda: (random.Random().random(), random.Random().random()),
        lambda: (np.random.rand(), np.random.randn(2), np.random.choice(99), np.random.permutation(9)),
        lambda: (np.random.default_rng().random(), np.random.RandomState().rand(), np.random.SeedSequence().entropy),
        lambda: np.random.Generator(np.random.MT19937()).random(),
        lambda: np.random.mtrand._rand.normal(),
        # As networkx and SciPy ask for the generators of the modules.
        lambda: (random._inst.random(), random._inst.choice(range(10**6))),
        lambda: np.random.Generator(np.random.mtrand._rand._bit_generator).random(),
        lambda: np.random.Generator(np.random.get_bit_generator()).random(),
    ],
)
def test_each_draw_without_a_seed_comes_from_that_of_the_run(draw: Callable[[], Any]) -> None:
    twice(draw)


def test_what_was_changed_is_taken_back() -> None:
    before = (random.random, random.Random.seed, random.choice, np.random.rand, np.random.mtrand._rand, uuid.uuid4)
    before += (threading.Thread.start, subprocess.Popen.__init__, asyncio.BaseEventLoop.create_task)
    with drawing():
        assert random.random is not before[0]
    after = (random.random, random.Random.seed, random.choice, np.random.rand, np.random.mtrand._rand, uuid.uuid4)
    after += (threading.Thread.start, subprocess.Popen.__init__, asyncio.BaseEventLoop.create_task)
    assert all(a is b for a, b in zip(before, after)) and early_random is random.random
    assert random.random() != random.random() and not _chance.active()
    with drawing():
        first = random.random()
    assert random.random() != first


def test_a_seed_of_the_program_wins_as_it_is() -> None:
    plain = random.Random(42)
    due = [plain.random(), plain.choice("abcdef"), plain.gauss(0, 1)]
    numbers = np.random.RandomState(42)
    due_numbers = [numbers.rand(), numbers.randint(99)]
    for seed in (SEED, OTHER):
        with drawing(seed):
            random.random(), np.random.rand()
            random.seed(42)
            assert [random.random(), random.choice("abcdef"), random.gauss(0, 1)] == due
            np.random.seed(42)
            assert [np.random.rand(), np.random.randint(99)] == due_numbers
            assert random.Random(42).random() == due[0] and np.random.default_rng(1).random() == pytest.approx(0.5118216247)
    twice(lambda: (random.seed(1), random.seed(), random.random())[2])
    own = np.random.RandomState(np.random.PCG64(42)).rand()
    before = np.random.get_bit_generator()
    with drawing():
        np.random.set_bit_generator(np.random.PCG64(42))
        assert np.random.rand() == own
    np.random.set_bit_generator(before)


def test_a_state_that_is_put_back_is_that_of_the_stream() -> None:
    """As libraries do it that draw from a seed of their own for a while."""

    def draw() -> Any:
        state, numbers = random.getstate(), np.random.get_state()
        first = random.random(), np.random.rand()
        random.seed(0), np.random.seed(0)
        random.random(), np.random.rand()
        random.setstate(state), np.random.set_state(numbers)
        assert (random.random(), np.random.rand()) == first
        return first

    twice(draw)


def library(code: str) -> Any:
    """A module of its own."""
    names: dict[str, Any] = {"__name__": "library"}
    exec(f"import random, numpy as np\n{code}", names)
    return names


def test_a_state_is_that_of_all_modules_that_draw_here() -> None:
    """Whoever compares two conditions with the same draws takes it in one module, and draws in another."""
    simulate = library("def simulate(): return random.random(), random.gauss(0, 1), np.random.rand()")["simulate"]

    def draw() -> Any:
        state, numbers = random.getstate(), np.random.get_state(legacy=False)
        never = simulate()
        random.setstate(state), np.random.set_state(numbers)
        assert simulate() == never
        state, numbers = random.getstate(), np.random.get_state()
        again = simulate()
        random.setstate(state), np.random.set_state(numbers)
        assert simulate() == again != never
        return never

    twice(draw)


def test_what_is_pickled_needs_nothing_of_retold() -> None:
    for draws in (random.random, random.Random(), np.random.rand, np.random.RandomState(), np.random.default_rng()):
        with drawing():
            assert b"retold" not in pickle.dumps(draws)
    with drawing():
        states = random.getstate(), np.random.get_state(), np.random.get_state(legacy=False)
        copies = random.random, np.random.rand
        kept = pickle.dumps((states, copies))
        due = random.random(), np.random.rand()
    assert b"retold" not in kept
    states, copies = pickle.loads(kept)
    assert (copies[0](), copies[1]()) == due
    random.setstate(states[0]), np.random.set_state(states[1])
    assert (random.random(), np.random.rand()) == due


def test_what_was_taken_in_one_block_draws_from_the_run_in_the_next() -> None:
    """A module that is imported in a block may keep functions and generators in its classes."""
    with drawing(OTHER):
        taken: list[Any] = [random.random, random._inst.random, np.random.rand, np.random.mtrand._rand.rand]
        random.seed(1), [draw() for draw in taken]
    twice(lambda: [draw() for draw in taken])
    assert [draw() for draw in taken] != [draw() for draw in taken]
    with drawing(f"{OTHER}+uuid"):
        uuid4 = uuid.uuid4
    drawn = []
    for setting in (f"{SEED}+uuid", f"{SEED}+uuid", SEED):
        with drawing(setting):
            drawn.append(uuid4())
    assert drawn[0] == drawn[1] != drawn[2] and uuid4() != uuid4()


def test_a_chance_in_another_one_is_as_alone_and_the_other_goes_on() -> None:
    def draw() -> Any:
        return random.random(), np.random.rand(), random.Random().random(), np.random.default_rng().random()

    with drawing():
        alone = draw()
    with drawing(OTHER):
        due = [random.random(), random.random()], np.random.RandomState(5).rand(2).tolist()
    with drawing(OTHER):
        np.random.seed(5)
        outer = [random.random()], [np.random.rand()]
        with drawing():
            assert draw() == alone
        outer[0].append(random.random()), outer[1].append(np.random.rand())
    assert outer == due


def test_nothing_that_keeps_secrets_is_touched() -> None:
    drawn = []
    for _ in range(2):
        with drawing():
            system = random.SystemRandom()
            drawn.append((secrets.token_hex(), os.urandom(16), system.random(), secrets.randbits(64), uuid.uuid4()))
            with tempfile.NamedTemporaryFile() as file:
                drawn[-1] += (file.name,)
    for one, other in zip(*drawn):
        assert one != other
    with drawing():
        assert type(secrets.SystemRandom().seed) is type(secrets.SystemRandom().random.__self__.seed)
        assert importlib.import_module("ssl").RAND_bytes(16) != importlib.import_module("ssl").RAND_bytes(16)


def test_uuids_are_the_run_s_if_that_is_asked_for() -> None:
    def draw() -> Any:
        one, other = uuid.uuid4(), uuid.uuid4()
        assert one != other and one.version == 4 and one.variant == uuid.RFC_4122
        return one, other

    drawn = []
    for _ in range(2):
        with drawing(f"{SEED}+uuid"):
            drawn.append(draw())
    assert drawn[0] == drawn[1]


def test_tasks_draw_by_who_made_them_and_not_by_who_is_first() -> None:
    async def agent(number: int, waits: list[float]) -> list[float]:
        drawn = []
        for _ in range(3):
            await asyncio.sleep(waits[number])
            drawn += [random.random(), float(np.random.rand()), await asyncio.to_thread(random.random)]
        return drawn

    async def main(waits: list[float]) -> Any:
        drawn: list[Any] = [await asyncio.gather(*(agent(n, waits) for n in range(3)))]
        drawn.append(await asyncio.gather(*map(asyncio.ensure_future, (agent(n, waits) for n in range(3)))))
        drawn.append([await task for task in [asyncio.create_task(agent(n, waits)) for n in range(3)]])
        loop = asyncio.get_running_loop()
        drawn.append([await one for one in [loop.run_in_executor(None, each) for _ in range(3)]])
        if sys.version_info >= (3, 11):
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(agent(n, waits)) for n in range(3)]
            drawn.append([task.result() for task in tasks])
        assert len({json.dumps(one) for some in drawn for one in some}) == sum(map(len, drawn))
        return drawn

    drawn = []
    for waits in ([0.0, 0.004, 0.002], [0.004, 0.0, 0.002]):
        with drawing():
            drawn.append(asyncio.run(main(waits)))
    assert drawn[0] == drawn[1]


def test_threads_draw_by_who_started_them() -> None:
    def draw(order: list[int]) -> Any:
        drawn: dict[int, list[float]] = {}

        def work(number: int) -> None:
            time.sleep(order[number] / 500)
            drawn[number] = [random.random(), random.random()]

        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            pooled = list(pool.map(lambda number: (time.sleep(order[number] / 500), random.random())[1], range(3)))
        with multiprocessing.pool.ThreadPool(2) as older:
            return sorted(drawn.items()), pooled, older.map(each, range(3)), older.starmap(pair, [(1, 2), (3, 4)])

    results = []
    for order in ([0, 1, 2], [2, 1, 0]):
        with drawing():
            results.append(draw(order))
    assert results[0] == results[1]
    assert len({one for _, drawn in results[0][0] for one in drawn} | set(results[0][1])) == 9


def test_calls_in_contexts_that_were_copied_before_draw_apart() -> None:
    """As LangChain, LangGraph and `loop.run_in_executor` hand them to threads, also by `pop` from a list."""

    def slowly(number: int) -> Any:
        time.sleep(time.time_ns() % 7 / 1000)
        first = random.random(), random.Random().random(), float(np.random.rand())
        time.sleep(time.time_ns() % 7 / 1000)
        return *first, random.random()

    async def main() -> Any:
        loop = asyncio.get_running_loop()
        calls = [loop.run_in_executor(None, contextvars.copy_context().run, slowly, n) for n in range(4)]
        return await asyncio.gather(*calls)

    def draw() -> Any:
        drawn: dict[int, Any] = {}
        contexts = [contextvars.copy_context() for _ in range(12)]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            some = [pool.submit(contexts.pop().run, slowly, n) for n in range(4)]
            mapped = list(pool.map(lambda n: contexts.pop().run(slowly, n), range(4)))
            within = pool.submit(asyncio.run, main()).result()
        threads = [
            threading.Thread(target=contexts.pop().run, args=(lambda n: drawn.update({n: slowly(n)}), n)) for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        every = [*[it.result() for it in some], *mapped, *within, *asyncio.run(main()), *(drawn[n] for n in range(4))]
        assert len({one for some in every for one in some}) == 4 * len(every)
        return every

    twice(draw)


def test_a_call_that_goes_on_after_a_block_draws_from_the_next_one() -> None:
    def work(begin: threading.Event) -> Any:
        random.random()
        begin.wait()
        return random.random(), float(np.random.rand())

    drawn = []
    for first, second in ((OTHER, SEED), (SEED[::-1], SEED), (OTHER, OTHER)):
        begin = threading.Event()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            with drawing(first):
                call = pool.submit(work, begin)
            with drawing(second):
                begin.set()
                drawn.append(call.result())
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_library_that_draws_takes_no_draw_of_the_program() -> None:
    jitter = library("def jitter(): return random.random()")["jitter"]

    def draw(times: int) -> Any:
        for _ in range(times):
            jitter()
        return [random.random(), jitter() != 0.0]

    with drawing():
        never = draw(0)
    with drawing():
        assert draw(3) == never


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_draw_by_who_started_them_or_handed_them_work(method: str) -> None:
    def draw() -> Any:
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(2, context) as pool:
            drawn: list[Any] = list(pool.map(each, range(4))) + [pool.submit(each).result()]
        with context.Pool(2) as older:
            drawn += older.map(each, range(4)) + older.starmap(pair, [(1, 2), (3, 4)]) + list(older.imap(each, [1, 2]))
            drawn += sorted(older.imap_unordered(each, [1, 2])) + [older.apply(each)]
        assert len(set(drawn)) == len(drawn)
        return drawn

    twice(draw)


def unevenly(number: int) -> float:
    """Takes longer in some calls, and not the same in each run."""
    if number % 7 == 0:
        time.sleep(time.time_ns() % 7 / 1000)
    return random.random()


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential"])
def test_calls_of_joblib_draw_by_their_numbers(backend: str) -> None:
    """It puts as many into one piece of work as were quick lately, and asks for them in threads of its own."""
    joblib = pytest.importorskip("joblib")

    def draw() -> Any:
        calls = (joblib.delayed(unevenly)(random.randrange(10**6)) for _ in range(400))
        drawn = joblib.Parallel(n_jobs=2, backend=backend)(calls)
        assert len(set(drawn)) == 400
        return drawn, joblib.Parallel(n_jobs=2, backend=backend)([joblib.delayed(each)(n) for n in range(3)])

    twice(draw)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_functions_of_the_modules_are_handed_to_pools(method: str) -> None:
    """A copy of the generator goes with them, as without retold."""

    def draw() -> Any:
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:
            return pool.submit(random.randint, 1, 10**9).result(), pool.submit(np.random.rand).result()

    twice(draw)


def drawn_in_process(_: object) -> tuple[int, float, float, float]:
    time.sleep(0.05)
    return os.getpid(), random.random(), random.Random().random(), float(np.random.rand())


def test_processes_that_are_older_than_a_block_do_not_draw_the_same_after_it() -> None:
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(drawn_in_process, range(2)))
        with drawing():
            list(pool.map(drawn_in_process, range(4)))
        after = list(pool.map(drawn_in_process, range(6)))
    drawn = [one for _, *some in after for one in some]
    assert len({process for process, *_ in after}) == 2 and len(set(drawn)) == len(drawn)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_has_a_stream_of_its_own() -> None:
    def draw() -> Any:
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.write(writing, json.dumps([random.random(), float(np.random.rand())]).encode())
            os._exit(0)
        os.wait()
        os.close(writing)
        with os.fdopen(reading) as file:
            child = json.load(file)
        own = [random.random(), float(np.random.rand())]
        assert not set(own) & set(child)
        return own, child

    twice(draw)


SOURCE = Path(_chance.__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the program `retold` writes beside a program."""
    package = tmp_path / "chance" / "_retold_chance"
    package.mkdir(parents=True)
    for file in SOURCE.glob("*.py"):
        (package / file.name).write_text(file.read_text())
    (tmp_path / "chance" / "sitecustomize.py").write_text((SOURCE.parent / "_begin.py").read_text())
    return tmp_path / "chance"


def begun(folder: Path, *words: str, **more: str) -> str:
    """What a Python process prints that begins with the folder."""
    for file in folder.glob("*.begun"):
        file.unlink()
    path = os.pathsep.join([str(folder), *filter(None, [more.pop("PYTHONPATH", "")])])
    env = {**os.environ, "RETOLD_CHANCE": SEED, "PYTHONPATH": path, "PYTHONHASHSEED": "7", **more}
    done = subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_a_process_that_begins_draws_from_its_variable(folder: Path) -> None:
    code = "import random, numpy, sys; print(random.random(), numpy.random.rand(), 'sitecustomize' in sys.path[0])"
    first = begun(folder, "-c", code)
    assert first == begun(folder, "-c", code)
    assert first != begun(folder, "-c", code, RETOLD_CHANCE=OTHER)
    assert len(list(folder.glob("*.begun"))) == 1
    assert begun(folder, "-c", code, RETOLD_CHANCE="") != first
    begun(folder, "-I", "-c", "pass")
    assert not list(folder.glob("*.begun"))


def test_programs_that_a_shell_starts_do_not_draw_the_same(folder: Path) -> None:
    code = f"""
import os, subprocess, sys
sys.stdout.flush()
draw = [sys.executable, "-c", "import random; print(random.random())"]
subprocess.run(draw), subprocess.run(draw, env={{"PATH": "/bin"}})
line = f"'{{sys.executable}}' -c 'import random; print(random.random())'"
os.system(f"{{line}}; {{line}}")
"""
    drawn = begun(folder, "-c", code).split()
    assert len(set(drawn)) == len(drawn) == 4
    assert begun(folder, "-c", code).split() == drawn


def test_another_sitecustomize_has_its_turn(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("import random; print('other', random.random())")
    code = "import sitecustomize, random; print(sitecustomize.__file__, random.random())"
    drawn = begun(folder, "-c", code, PYTHONPATH=str(other))
    assert drawn.startswith("other ") and str(other) in drawn
    assert begun(folder, "-c", code, PYTHONPATH=str(other)) == drawn


def test_a_program_that_changes_its_environment_keeps_its_chance(folder: Path) -> None:
    code = """
import multiprocessing, os, random, sys
if __name__ == "__main__":
    line = f"'{sys.executable}' -c 'import random, sys; print(random.random(), \\"/added\\" in sys.path)'"
    os.environ["PYTHONPATH"] = "/added"
    os.system(line)
    del os.environ["PYTHONPATH"]
    os.environ.pop("RETOLD_CHANCE")
    os.system(line)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(random.Random))
"""
    drawn = begun(folder, "-c", code).split()[:4]
    assert drawn[1::2] == ["True", "False"] and drawn[0] != drawn[2]
    assert begun(folder, "-c", code).split()[:4] == drawn


def test_a_draw_with_no_code_around_it_is_one(folder: Path) -> None:
    code = """
import _thread, atexit, random, time
_thread.start_new_thread(random.random, ())
time.sleep(0.1)
atexit.register(random.choice, "ab")
print(random.random())
"""
    assert begun(folder, "-c", code) == begun(folder, "-c", code)


def test_a_module_that_is_looked_for_and_imported_later_is_reached(folder: Path) -> None:
    code = "import importlib.util as it; it.find_spec('random'); import random; print(random.random())"
    assert begun(folder, "-c", code) == begun(folder, "-c", code)


def test_modules_scripts_and_virtual_environments_are_reached(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "study.py").write_text("import random\nprint(random.random())\n")
    script = begun(folder, str(tmp_path / "study.py"))
    assert script == begun(folder, str(tmp_path / "study.py"))
    module = begun(folder, "-m", "study", PYTHONPATH=str(tmp_path))
    assert module == begun(folder, "-m", "study", PYTHONPATH=str(tmp_path))


def test_a_stack_names_places_of_the_program_alone() -> None:
    from retold._chance._stack import stack

    def innermost() -> str:
        return stack()

    told = json.loads(json.dumps([innermost()]))[0]
    assert told.startswith("test_chance.py:") and " in innermost < test_chance.py:" in told
    assert "site-packages" not in told and told.isascii() and len(told) <= 400
