"""The chance of a process: its places, and what was changed for it."""

from __future__ import annotations

import contextvars
import sys
from _thread import get_ident
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from ._place import Place

#: The chances of this process, the last of which is in force.
begun: List[Chance] = []


def active() -> Optional[Chance]:
    """The chance of this process, if it has one."""
    return begun[-1] if begun else None


def nowhere() -> None:
    """The place of draws that are not the run's."""


#: By what is drawn, gives the place of the code that is running: none outside of a run, or if the program has set a seed.
places: List[Callable[[], Optional[Place]]] = [nowhere, nowhere, nowhere]

#: By thread, the place of the call that a pool has it do.
calls: Dict[int, Place] = {}

#: What a setting has after its seed: whether `uuid4` is the run's, too, and whether the run is replayed.
_UUID, _REPLAY = "uuid", "replay"


def in_call(place: Place) -> Place:
    """The place of the call in this thread, unless a place is in it."""
    own = calls.get(get_ident())
    return place if own is None or place.call is own else own


class Chance:
    """The seed of a process in a run, and its places."""

    def __init__(self, setting: str, seed: Optional[bytes] = None, folder: Optional[str] = None) -> None:
        given, *words = setting.split("+")
        #: As it is handed on: the seed of the run, and words.
        self.setting, self._words = setting, words
        self.has_uuid, self.is_replay = _UUID in words, _REPLAY in words
        #: Where Python processes that begin find this package; `None` if whoever has installed it sees to that.
        self.folder = folder
        self.root = Place(bytes.fromhex(given) if seed is None else seed)
        #: What the program draws from a seed of its own.
        self._seeded: Set[int] = set()
        #: One for each: a task that outlives a block has no place in the next.
        self.here: contextvars.ContextVar[Place] = contextvars.ContextVar("retold_place", default=self.root)
        self._undo: List[Callable[[], None]] = []

    def setting_of(self, seed: bytes) -> str:
        """The setting of a process with another seed."""
        return "+".join([seed.hex(), *self._words])

    def become(self, seed: bytes) -> None:
        """Makes the process, and whatever runs in it now, the one at a place."""
        calls.clear()
        self.root.become(seed)
        self.here.set(self.root)

    def place(self) -> Place:
        """The place of the code that is running."""
        return in_call(self.here.get())

    def call_at(self, place: Place, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Calls a function at a place: also what it runs in a context that was copied before, as LangChain and LangGraph do."""
        thread = get_ident()
        before, outer = self.here.set(place), calls.get(thread)
        place.call = calls[thread] = place
        try:
            return function(*args, **kwargs)
        finally:
            if outer is None:
                calls.pop(thread, None)
            else:
                calls[thread] = outer
            self.here.reset(before)

    def when_undone(self, undo: Callable[[], None]) -> None:
        """Notes what takes a change back."""
        self._undo.append(undo)

    def undo(self) -> None:
        """Takes back all changes, the last one first."""
        # A call that goes on has no place in the next block.
        calls.clear()
        while self._undo:
            self._undo.pop()()

    def draw(self, kind: int) -> None:
        """Gives draws their places, unless the program has set a seed."""
        places[kind] = nowhere if kind in self._seeded else self.here.get
        self.when_undone(lambda: places.__setitem__(kind, nowhere))

    def note_seed(self, kind: int, is_own: bool) -> None:
        """Notes that the program has set a seed, or has taken it back."""
        (self._seeded.add if is_own else self._seeded.discard)(kind)
        places[kind] = nowhere if is_own else self.here.get

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Replaces an attribute."""
        before = vars(owner)[name]
        setattr(owner, name, value)
        self.when_undone(lambda: setattr(owner, name, before))

    def put_everywhere(self, pairs: List[Tuple[Any, Any]]) -> None:
        """Replaces objects in all modules, because some have imported them by name."""
        _replace(pairs)
        self.when_undone(lambda: _replace([(new, old) for old, new in pairs]))


def _replace(pairs: List[Tuple[Any, Any]]) -> None:
    table = {id(old): new for old, new in pairs}
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType):
            names = vars(module)
            for name, value in list(names.items()):
                if id(value) in table:
                    names[name] = table[id(value)]
