"""The errors that tools raise, as JSON and back."""

from __future__ import annotations

from typing import Any

from ._errors import ToolError
from ._values import NotJson, decode, encode, find, name_of


def error_as_json(error: BaseException) -> dict[str, Any]:
    """An error as it is recorded: its class, its message, and what else it has as far as JSON can hold it."""
    what: dict[str, Any] = {"type": name_of(error), "message": str(error)}
    # An `OSError` has more than its arguments say.
    args = error.__reduce__()[1]
    for name, value in (("args", list(args)), ("fields", dict(vars(error)))):
        try:
            encoded = encode(value)
        except (NotJson, RecursionError):
            continue
        if encoded and encoded != [what["message"]]:
            what[name] = encoded
    return what


def error_of(what: dict[str, Any]) -> Exception:
    """The error that was recorded: of its own class if the program has imported that, or else a `ToolError`.

    The class is not called, because its parameters are not known: the error gets what it had.
    """
    kind, message = str(what["type"]), str(what["message"])
    found = find(kind)
    if isinstance(found, type) and issubclass(found, Exception):
        try:
            args = decode(what.get("args", [message] if message else []))
            error = found.__new__(found, *args)
            error.__dict__.update(decode(what.get("fields", {})))
            return error
        except Exception:  # noqa: BLE001  a class that cannot be made so has another way
            pass
    return ToolError(f"{kind}: {message}", kind)
