"""The errors that tools raise, as JSON and back."""

from __future__ import annotations

from typing import Any

from ._errors import ToolError
from ._values import NotJson, decode, encode, find, name_of


def error_as_json(error: BaseException) -> dict[str, Any]:
    """An error as it is recorded: its class, its message, and what else it has as far as JSON can hold it."""
    made_of: tuple[Any, ...] = error.args
    try:
        message = str(error)
        # An `OSError` is made of more than its arguments.
        reduced = error.__reduce__()
        if isinstance(reduced, tuple):
            made_of = reduced[1]
    except Exception:  # noqa: BLE001  an error that cannot say what it is was raised nevertheless
        message = ""
    what: dict[str, Any] = {"type": name_of(error), "message": message.encode(errors="backslashreplace").decode()}
    given = _held({"args": list(error.args), "made_of": list(made_of)})
    if given.get("made_of") == given.get("args"):
        given.pop("made_of", None)
    if given.get("args") == ([message] if message else []):
        del given["args"]
    fields = _held(vars(error))
    return {**what, **given, **({"fields": fields} if fields else {})}


def _held(values: dict[str, Any]) -> dict[str, Any]:
    """Those of the values that JSON can hold."""
    held = {}
    for name, value in values.items():
        try:
            held[name] = encode(value)
        except NotJson:
            continue
    return held


def error_of(what: dict[str, Any]) -> Exception:
    """The error that was recorded: of its own class if the program has imported that and it can be made, or else a `ToolError`.

    The class is not called, because its parameters are not known: the error gets what it had.
    """
    kind, message = str(what["type"]), str(what["message"])
    found = find(kind)
    if isinstance(found, type) and issubclass(found, Exception):
        try:
            args = decode(what.get("args", [message] if message else []))
            made_of = decode(what["made_of"]) if "made_of" in what else args
            error: Exception = found.__new__(found, *made_of)
            # Python's own errors have what only this sets.
            own = next(base for base in found.__mro__ if base.__module__ == "builtins")
            own.__init__(error, *made_of)  # type: ignore[misc]
            error.args = tuple(args)
            error.__dict__.update({name: decode(value) for name, value in what.get("fields", {}).items()})
            return error
        except Exception:  # noqa: BLE001  a class that cannot be made so has another way
            pass
    return ToolError(f"{kind}: {message}", kind)
