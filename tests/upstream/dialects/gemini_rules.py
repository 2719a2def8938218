"""What the Gemini API refuses. The sources are those of `gemini.py`."""

from __future__ import annotations

from typing import Any, NoReturn

from ..exchange import Refused, Request, Whole
from ..rules import is_number

STATUSES = {
    400: "INVALID_ARGUMENT",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""Guide "Troubleshooting", error codes."""

FIELDS = {
    *("contents", "tools", "toolConfig", "safetySettings", "systemInstruction", "generationConfig", "cachedContent"),
    *("labels", "model", "serviceTier", "store"),
}
"""Reference, `models.generateContent`, request body; Vertex AI has `labels`."""

REQUIRED = {"embedContent": "content", "batchEmbedContents": "requests", "predict": "instances"}


def error(status: int, message: str) -> Whole:
    return Whole({"error": {"code": status, "message": message, "status": STATUSES.get(status, "UNKNOWN")}}, status)


def failure(status: int, message: str, _: Request) -> Whole:
    return error(status, message)


def refuse(message: str, status: int = 400) -> NoReturn:
    raise Refused(error(status, message))


def check(request: Request, method: str) -> None:
    # Reference, "Authentication": a key in the header or the query; Vertex AI wants a token.
    if not {"x-goog-api-key", "authorization"} & set(request.headers) and "key" not in request.query:
        said = "Method doesn't allow unregistered callers (callers without established identity)."
        refuse(f"{said} Please use API Key or other form of API consumer identity to call this API.", 403)
    body = request.body
    if not isinstance(body, dict):
        refuse("Invalid JSON payload received. Expected a value.")
    if required := REQUIRED.get(method):
        if not body.get(required):
            refuse(f"{required} is not specified")
        return
    if method == "countTokens" and "generateContentRequest" in body:
        return
    for field in body:
        if "".join(part if not place else part.title() for place, part in enumerate(field.split("_"))) not in FIELDS:
            refuse(f'Invalid JSON payload received. Unknown name "{field}": Cannot find field.')
    check_contents(body.get("contents"))
    config = body.get("generationConfig") or {}
    # Reference, `GenerationConfig`: `temperature` is a number in [0.0, 2.0].
    if (heat := config.get("temperature")) is not None:
        if not is_number(heat):
            refuse(f"Invalid value at 'generation_config.temperature' (TYPE_FLOAT), \"{heat}\"")
        if not 0 <= heat <= 2:
            said = "temperature must be in the range [0.0, 2.0]."
            refuse(f"* GenerateContentRequest.generation_config.temperature: {said}\n")


def check_contents(contents: Any) -> None:
    if not contents:
        refuse("* GenerateContentRequest.contents: contents is not specified\n")
    if not isinstance(contents, list):
        refuse("Invalid value at 'contents' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content)")
    calls: list[str] = []
    for place, content in enumerate(contents):
        # Reference, `Content.role`: "Must be either 'user' or 'model'"; it can be left out. Words:
        # the-open-agent/openagent#1666.
        if content.get("role", "user") not in ("user", "model"):
            refuse("Please use a valid role: user, model.")
        # Words: coze-dev/coze-studio#46.
        if not content.get("parts"):
            said = "contents.parts must not be empty."
            refuse(f"* GenerateContentRequest.contents[{place}].parts: {said}\n")
        answered = [part["functionResponse"]["name"] for part in content["parts"] if "functionResponse" in part]
        # Guide "Function calling": the turn after calls has a response for each of them. Words:
        # langchain-ai/langchain#27799, google-gemini/gemini-cli#3814.
        if answered and not calls:
            refuse("Please ensure that function response turn comes immediately after a function call turn.")
        if len(answered) != len(calls):
            said = "the number of function response parts is equal to the number of function call parts"
            refuse(f"Please ensure that {said} of the function call turn.")
        calls = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
