"""How OpenAI refuses: shared by all of its endpoints.

Source: OpenAI's guide "Error codes", the object `error` of its published OpenAPI description (`message`, `type`, `param`,
`code`), and the errors that users of its SDKs quote in their issues.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ..exchange import Refused, Request, Whole
from ..rules import NAMES, name_of

TYPES = {401: "invalid_request_error", 404: "invalid_request_error", 429: "requests", 503: "service_unavailable"}


def error(status: int, message: str, param: str | None = None, code: str | None = None) -> Whole:
    kind = TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return Whole({"error": {"message": message, "type": kind, "param": param, "code": code}}, status)


def failure(status: int, message: str, _: Request) -> Whole:
    return error(status, message, code="rate_limit_exceeded" if status == 429 else None)


def refuse(message: str, param: str | None = None, code: str | None = None) -> NoReturn:
    raise Refused(error(400, message, param, code))


def checked(request: Request) -> dict[str, Any]:
    """The body of a request with a key, a JSON object and a model."""
    # Guide "Error codes": 401 if the key is missing.
    if not request.headers.get("authorization", "").startswith("Bearer ") and "api-key" not in request.headers:
        said = "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth."
        raise Refused(error(401, said))
    body = request.body
    if not isinstance(body, dict):
        refuse("We could not parse the JSON body of your request. The OpenAI API expects a JSON payload.")
    # OpenAPI description: `model` is required in every request that creates something.
    if "model" not in body:
        refuse("you must provide a model parameter")
    return body


def want(body: dict[str, Any], field: str, kind: type | tuple[type, ...], is_required: bool = False) -> None:
    """Refuses a field that is missing or of another type. Source: `required` and `type` in the OpenAPI description."""
    if body.get(field) is None:
        if is_required:
            refuse(f"Missing required parameter: '{field}'.", field, "missing_required_parameter")
        return
    kinds = kind if isinstance(kind, tuple) else (kind,)
    value = body[field]
    if isinstance(value, bool) and bool not in kinds or not isinstance(value, kinds):
        expected = " or ".join(NAMES[kind] for kind in kinds if not (kind is int and float in kinds))
        refuse(f"Invalid type for '{field}': expected {expected}, but got {name_of(value)} instead.", field, "invalid_type")


def between(body: dict[str, Any], field: str, least: float, most: float) -> None:
    """Refuses a number out of range. Source: `minimum` and `maximum` in the OpenAPI description."""
    want(body, field, (int, float))
    value = body.get(field)
    if value is not None and not least <= value <= most:
        side, limit, sign = ("above_max", most, "<=") if value > most else ("below_min", least, ">=")
        where = side.replace("_max", " maximum").replace("_min", " minimum")
        message = f"Invalid '{field}': decimal {where} value. Expected a value {sign} {limit}, but got {value} instead."
        refuse(message, field, f"decimal_{side}_value")
