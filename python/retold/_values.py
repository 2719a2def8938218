"""Values of Python as JSON, and back: the arguments and results of tools."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import sys
import uuid
from collections.abc import Callable
from typing import Any

#: The field of an object that stands for a value which JSON does not have: its type.
MARK = "$retold"

#: Integers beyond it are rounded by many readers of JSON.
_EXACT = 2**53

_MICROSECOND = datetime.timedelta(microseconds=1)

#: Types that are a text in JSON, by their names: how the text is made, and how it is read.
_TEXTS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "bytes": (bytes, lambda value: base64.b64encode(value).decode(), base64.b64decode),
    "datetime": (datetime.datetime, lambda value: value.isoformat(), datetime.datetime.fromisoformat),
    "date": (datetime.date, lambda value: value.isoformat(), datetime.date.fromisoformat),
    "time": (datetime.time, lambda value: value.isoformat(), datetime.time.fromisoformat),
    "microseconds": (
        datetime.timedelta,
        lambda value: str(value // _MICROSECOND),
        lambda text: int(text) * _MICROSECOND,
    ),
    "decimal": (decimal.Decimal, str, decimal.Decimal),
    "uuid": (uuid.UUID, str, uuid.UUID),
    "path": (pathlib.PurePath, str, pathlib.Path),
    # Those that JSON itself cannot hold: large ones, no numbers, and texts with half a character.
    "integer": (int, str, int),
    "float": (float, repr, float),
    "text": (str, json.dumps, json.loads),
}

_LISTS: dict[str, type] = {"tuple": tuple, "set": set, "frozenset": frozenset}

#: Modules whose classes make a value of its text.
_OF_TEXTS = ("ipaddress", "pydantic.networks")


class NotJson(TypeError):
    """A value that JSON cannot hold."""


def plain(value: Any, *, is_strict: bool = True) -> Any:
    """A value as JSON that people read, which need not be read back: arguments.

    What JSON cannot hold is named by its type, unless that is strict.
    """
    return _written(value, _Writer(is_plain=True, is_strict=is_strict))


def encode(value: Any) -> Any:
    """A value as JSON that :func:`decode` reads back."""
    return _written(value, _Writer(is_plain=False, is_strict=True))


def _written(value: Any, writer: _Writer) -> Any:
    try:
        return writer.write(value)
    except NotJson:
        raise
    except Exception as error:
        # A class may say anything about its own values.
        raise NotJson(f"{type(error).__name__}: {error}") from error


@dataclasses.dataclass(frozen=True)
class _Writer:
    is_plain: bool
    is_strict: bool

    def write(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, enum.Enum):
            return self._of_class(value, value.value)
        if type(value).__module__ == "numpy":
            return self._of_numpy(value)
        if isinstance(value, str) and _is_whole(value):
            return str(value)
        if isinstance(value, int) and abs(value) <= _EXACT:
            return int(value)
        if isinstance(value, float) and math.isfinite(value):
            return float(value)
        for name, (kind, to_text, from_text) in _TEXTS.items():
            if isinstance(value, kind):
                return self._of_text(name, value, to_text, from_text)
        if type(value).__module__ in _OF_TEXTS and not isinstance(value, type):
            return self._of_text(self._found(value), value, str, type(value))
        if isinstance(value, list):
            return self._each(value)
        if isinstance(value, dict):
            return self._of_dict(value)
        for name, kind in _LISTS.items():
            if type(value) is kind:
                each = self._each(value)
                return self._marked(name, each if kind is tuple else sorted(each, key=json.dumps))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self._of_class(value, list(value))
        if _is_model(type(value)):
            return self._of_model(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return self._of_class(value, fields if self.is_plain else {**fields, **getattr(value, "__dict__", {})})
        if _has_slots_alone(type(value)):
            return self._of_class(value, {name: getattr(value, name) for name in type(value).__slots__})
        if self.is_plain and callable(getattr(value, "get_secret_value", None)):
            return str(value)
        return self._unknown(value)

    def _each(self, values: Any) -> list[Any]:
        return [self.write(one) for one in values]

    def _marked(self, name: str, what: Any) -> Any:
        return what if self.is_plain else {MARK: name, "value": what}

    def _of_class(self, value: Any, what: Any) -> Any:
        return self.write(what) if self.is_plain else self._marked(self._found(value), self.write(what))

    def _found(self, value: Any) -> str:
        """The name of a value's class, by which :func:`find` finds it."""
        name = _name(type(value))
        if not self.is_plain and find(name) is not type(value):
            raise NotJson(f"the class {name} cannot be found by its name, as if it was defined in a function")
        return name

    def _of_text(self, name: str, value: Any, to_text: Callable[[Any], str], from_text: Callable[[str], Any]) -> Any:
        text = to_text(value)
        # What is equal to itself is read back as what is equal to it.
        if not self.is_plain and from_text(text) != value and value == value:
            raise NotJson(f"{value!r} would be read back as another value")
        return self._marked(name, text)

    def _of_model(self, value: Any) -> Any:
        if self.is_plain:
            return self.write(dict(value))
        # What a copy is made of: its own JSON leaves out fields, types and names.
        state = value.__getstate__()
        return {**self._of_class(value, state.pop("__dict__")), "state": self.write(state)}

    def _of_numpy(self, value: Any) -> Any:
        if not _is_number(type(value)):
            return self._unknown(value)
        item = value.item()
        if not self.is_plain and value == value and type(value)(item) != value:
            raise NotJson(f"{value!r} would be read back as another value")
        return self._of_class(value, item)

    def _of_dict(self, value: dict[Any, Any]) -> Any:
        if all(isinstance(key, str) and _is_whole(key) for key in value) and (self.is_plain or MARK not in value):
            return {str(key): self.write(one) for key, one in value.items()}
        return self._marked("dict", [self._each(pair) for pair in value.items()])

    def _unknown(self, value: Any) -> Any:
        name = _name(type(value))
        if self.is_strict:
            raise NotJson("a class is not a value of JSON" if isinstance(value, type) else f"{name} is not a value of JSON")
        return {MARK: name}


def _is_whole(text: str) -> bool:
    """Whether a text has no half of a character (a surrogate)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_model(kind: type) -> bool:
    return callable(getattr(kind, "model_dump", None)) and hasattr(kind, "__pydantic_fields_set__")


def _has_slots_alone(kind: type) -> bool:
    """Whether all that a value of the class has is in its slots, as in a `Send` of LangGraph."""
    return isinstance(vars(kind).get("__slots__"), tuple) and kind.__bases__ == (object,) and not hasattr(kind, "__del__")


def _is_number(kind: type) -> bool:
    """Whether it is a class of numpy's for one number, text or date."""
    return kind.__module__ == "numpy" and issubclass(kind, sys.modules["numpy"].generic)


def decode(value: Any) -> Any:
    """The value that :func:`encode` has written.

    A class is looked up among the modules that the program has imported: what is recorded imports none.
    """
    if isinstance(value, list):
        return [decode(one) for one in value]
    if not isinstance(value, dict):
        return value
    name = value.get(MARK)
    if name is None:
        return {key: decode(one) for key, one in value.items()}
    inner = value["value"]
    if name in _TEXTS:
        return _TEXTS[name][2](inner)
    if name in _LISTS:
        return _LISTS[name](decode(inner))
    if name == "dict":
        return {decode(key): decode(one) for key, one in inner}
    kind = find(name)
    if isinstance(kind, type):
        if issubclass(kind, enum.Enum) or _is_number(kind) or kind.__module__ in _OF_TEXTS:
            return kind(decode(inner))
        if issubclass(kind, tuple):
            return tuple.__new__(kind, decode(inner))
        if _is_model(kind):
            model: Any = kind.__new__(kind)
            model.__setstate__({"__dict__": decode(inner), **decode(value["state"])})
            return model
        if dataclasses.is_dataclass(kind) or _has_slots_alone(kind):
            made = object.__new__(kind)
            for field, one in inner.items():
                object.__setattr__(made, field, decode(one))
            return made
    raise NotJson(f"{name}, of which a value is recorded, is no class of a module that this program has imported")


def _name(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def name_of(error: BaseException) -> str:
    """The name of the class of an error, by which :func:`find` finds it."""
    return _name(type(error))


def find(name: str) -> Any:
    """What has a name in the modules that the program has imported; `None` if nothing has."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, -1, -1):
        found: Any = sys.modules.get(".".join(parts[:cut]) or "builtins")
        for part in parts[cut:]:
            found = getattr(found, part, None)
        if found is not None:
            return found
    return None
