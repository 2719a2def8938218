"""What takes the place of a module's own generator: it draws where the code is that asks, and outside of a run, or once the program has
set a seed, from that generator."""

from __future__ import annotations

import functools
from sys import _getframe
from types import FrameType
from typing import Any, Callable, Dict, Optional, Type

from ._chance import active, calls, in_call, places
from ._place import Place

#: One for each generator: whatever took it in one block draws from the run in the next one, too.
_made: Dict[int, Any] = {}


class _State(tuple):  # type: ignore[type-arg]
    """The state of a stream, which also knows the others of its place: to put it back is no seed of the program's own."""

    streams: Dict[Any, Any]

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


class _NewState(dict):  # type: ignore[type-arg]
    """The same in the form that numpy has for its new generators."""

    streams: Dict[Any, Any]

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def frame_at(depth: int) -> Optional[FrameType]:
    """The code that called the caller; a thread may begin with a draw, and then there is none."""
    try:
        return _getframe(depth + 1)
    except ValueError:
        return None


def module_at(depth: int) -> Any:
    """The name of its module."""
    frame = frame_at(depth + 1)
    return None if frame is None else frame.f_globals.get("__name__")


def hidden(kind: int, shared: Any, begin: Callable[[bytes, Any], Any], state: str, new: Callable[[Type[Any]], Any]) -> Any:
    """What draws instead of ``shared``: ``begin`` makes a stream, ``new`` the object, and ``state`` is how the methods for it end."""
    if id(shared) not in _made:
        _made[id(shared)] = new(_class(kind, shared, begin, f"get{state}", f"set{state}"))
    return _made[id(shared)]


def _class(kind: int, shared: Any, begin: Callable[[bytes, Any], Any], get: str, put: str) -> Type[Any]:
    make = type(shared)
    state_of, put_state = getattr(make, get), getattr(make, put)

    def stream_of(place: Place, module: Any) -> Any:
        streams = place.streams[kind]
        if module not in streams:
            streams[module] = begin(place.seed, module)
        return streams[module]

    def drawing(name: str) -> Callable[..., Any]:
        method = getattr(make, name)

        @functools.wraps(method)
        def draw(self: Any, *args: Any, **kwargs: Any) -> Any:
            place = places[kind]()
            if place is None:
                return method(shared, *args, **kwargs)
            if calls:
                place = in_call(place)
            try:
                stream = place.streams[kind][_getframe(1).f_globals["__name__"]]
            except (KeyError, ValueError):
                stream = stream_of(place, module_at(1))
            return method(stream, *args, **kwargs)

        return draw

    class Hidden(make):  # type: ignore[misc, valid-type]
        def seed(self, *args: Any, **kwargs: Any) -> None:
            chance, is_own = active(), any(it is not None for it in (*args[:1], kwargs.get("a"), kwargs.get("seed")))
            if is_own or chance is None:
                make.seed(shared, *args, **kwargs)
            if chance is not None:
                chance.note_seed(kind, is_own)

        def drawn_from(self, depth: int) -> Any:
            """The generator for the code that called the caller."""
            place = places[kind]()
            return shared if place is None else stream_of(in_call(place), module_at(depth + 1))

        def __reduce__(self) -> Any:
            return self.drawn_from(1).__reduce__()

    def get_state(self: Any, *args: Any, **kwargs: Any) -> Any:
        place, stream = places[kind](), self.drawn_from(1)
        state = state_of(stream, *args, **kwargs)
        if place is not None:
            state = _State(state) if isinstance(state, tuple) else _NewState(state)
            state.streams = {module: state_of(it) for module, it in in_call(place).streams[kind].items()}
        return state

    def set_state(self: Any, state: Any) -> None:
        chance, states = active(), getattr(state, "streams", None)
        if chance is None or states is None:
            put_state(shared, state)
        else:
            # What has drawn since then begins anew.
            place = chance.place()
            place.streams[kind].clear()
            for module, one in states.items():
                put_state(stream_of(place, module), one)
        if chance is not None:
            chance.note_seed(kind, states is None)

    for name in dir(make):
        if not name.startswith("_") and name not in ("seed", get, put) and callable(getattr(make, name)):
            setattr(Hidden, name, drawing(name))
    setattr(Hidden, get, functools.wraps(state_of)(get_state))
    setattr(Hidden, put, functools.wraps(put_state)(set_state))
    Hidden.__name__, Hidden.__qualname__, Hidden.__module__ = make.__name__, make.__qualname__, make.__module__
    return Hidden


def replace(chance: Any, kind: int, shared: Any, instead: Any, *modules: Any) -> None:
    """Lets modules, and all that have taken their functions by name, draw from ``instead``."""
    pairs = {id(shared): (shared, instead)}
    for value in [it for module in modules for it in vars(module).values()]:
        if getattr(value, "__self__", None) is shared:
            pairs[id(value)] = (value, getattr(instead, value.__name__))
    chance.put_everywhere(list(pairs.values()))
    chance.draw(kind)
