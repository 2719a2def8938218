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

#: Types that are a text in JSON, by their names: how the text is made, and how it is read.
_TEXTS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "bytes": (bytes, lambda value: base64.b64encode(value).decode(), base64.b64decode),
    "datetime": (datetime.datetime, lambda value: value.isoformat(), datetime.datetime.fromisoformat),
    "date": (datetime.date, lambda value: value.isoformat(), datetime.date.fromisoformat),
    "time": (datetime.time, lambda value: value.isoformat(), datetime.time.fromisoformat),
    "decimal": (decimal.Decimal, str, decimal.Decimal),
    "uuid": (uuid.UUID, str, uuid.UUID),
    "path": (pathlib.PurePath, str, pathlib.Path),
    "integer": (int, str, int),
}

_LISTS: dict[str, type] = {"tuple": tuple, "set": set, "frozenset": frozenset}


class NotJson(TypeError):
    """A value that JSON cannot hold."""


def plain(value: Any) -> Any:
    """A value as JSON that people read, which need not be read back: arguments."""
    return _encode(value, is_plain=True)


def encode(value: Any) -> Any:
    """A value as JSON that :func:`decode` reads back."""
    return _encode(value, is_plain=False)


def _encode(value: Any, *, is_plain: bool) -> Any:
    def marked(name: str, what: Any) -> Any:
        return what if is_plain else {MARK: name, "value": what}

    def each(values: Any) -> list[Any]:
        return [_encode(one, is_plain=is_plain) for one in values]

    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return marked(_name(type(value)), _encode(value.value, is_plain=is_plain))
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int) and abs(value) <= _EXACT:
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(f"{value} is no number of JSON")
        return float(value)
    for name, (kind, to_text, _) in _TEXTS.items():
        if isinstance(value, kind):
            return marked(name, to_text(value))
    if isinstance(value, list):
        return each(value)
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value) and (is_plain or MARK not in value):
            return {str(key): _encode(one, is_plain=is_plain) for key, one in value.items()}
        return marked("dict", [each(pair) for pair in value.items()])
    for name, kind in _LISTS.items():
        if type(value) is kind:
            values = each(value)
            return marked(name, values if kind is tuple else sorted(values, key=json.dumps))
    if isinstance(value, type):
        raise NotJson("a class is not a value of JSON")
    if callable(getattr(value, "model_dump", None)):
        return marked(_name(type(value)), value.model_dump(mode="json"))
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return marked(_name(type(value)), {name: _encode(one, is_plain=is_plain) for name, one in fields.items()})
    if type(value).__module__.partition(".")[0] == "numpy" and callable(getattr(value, "item", None)) and value.ndim == 0:
        return _encode(value.item(), is_plain=is_plain)
    raise NotJson(f"{_name(type(value))} is not a value of JSON")


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
    return _rebuild(name, find(name), inner)


def _rebuild(name: str, kind: Any, inner: Any) -> Any:
    if isinstance(kind, type):
        if issubclass(kind, enum.Enum):
            return kind(decode(inner))
        if callable(getattr(kind, "model_validate", None)):
            return kind.model_validate(inner)  # type: ignore[attr-defined]
        if dataclasses.is_dataclass(kind):
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
