"""OpenAI's other endpoints: embeddings, completions, images, audio, models.

Sources: OpenAI's API reference, the pages of these endpoints, and its published OpenAPI description.
"""

from __future__ import annotations

import base64
import re
import struct
from typing import Any

from .. import made_up
from ..exchange import COMMENT, Request, Stream, Whole, server_sent
from .openai_errors import between, checked, error, failure, refuse, want

__all__ = ["answer", "embeddings", "failure", "takes"]

MODELS = [{"id": f"m-{place}", "object": "model", "created": 1, "owned_by": "made-up"} for place in range(3)]


def takes(path: str) -> bool:
    return path.endswith(tuple(ENDPOINTS))


def answer(request: Request) -> Whole | Stream:
    return next(endpoint for path, endpoint in ENDPOINTS.items() if request.path.endswith(path))(request)


def models(request: Request) -> Whole:
    return Whole({"object": "list", "data": MODELS})


def embeddings(request: Request) -> Whole:
    body, number = checked(request), request.number
    want(body, "input", (str, list), is_required=True)
    # API reference, `input`: "cannot be an empty string".
    if body["input"] in ("", []):
        refuse("'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.")
    given = body["input"]
    inputs = given if isinstance(given, list) and not isinstance(given[0], int) else [given]

    def vector(place: int) -> Any:
        numbers = [float(number), float(place), 0.25]
        packed = base64.b64encode(struct.pack("<3f", *numbers)).decode()
        return packed if body.get("encoding_format") == "base64" else numbers

    data = [{"object": "embedding", "index": place, "embedding": vector(place)} for place in range(len(inputs))]
    usage = {"prompt_tokens": 4 + number, "total_tokens": 4 + number}
    return Whole({"object": "list", "model": body["model"], "data": data, "usage": usage})


def completions(request: Request) -> Whole | Stream:
    body, number = checked(request), request.number
    between(body, "temperature", 0, 2)
    words = made_up.words(number, request.text)
    base = {"id": f"cmpl-{number}", "object": "text_completion", "created": 1700000000 + number, "model": body["model"]}

    def part(text: str, end: str | None = None) -> dict[str, Any]:
        return {**base, "choices": [{"index": 0, "text": text, "finish_reason": end, "logprobs": None}]}

    if body.get("stream"):
        events = [*(server_sent(part(word)) for word in words), server_sent(part("", "stop")), server_sent("[DONE]")]
        return Stream(events, server_sent(error(500, "made-up failure").body), comment=COMMENT)
    usage = {"prompt_tokens": 4, "completion_tokens": 5, "total_tokens": 9}
    return Whole({**part("".join(words), "stop"), "usage": usage})


def images(request: Request) -> Whole:
    # OpenAPI description, `CreateImageRequest`: only `prompt` is required.
    body = request.body if isinstance(request.body, dict) else refuse("We could not parse the JSON body of your request.")
    want(body, "prompt", str, is_required=True)
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + str(request.number).encode() * 20).decode()
    return Whole({"created": 1700000000 + request.number, "data": [{"b64_json": picture}]})


def speech(request: Request) -> Stream:
    body = checked(request)
    for field in ("input", "voice"):
        want(body, field, (str, dict), is_required=True)
    blocks = [bytes((request.number + block + place) % 256 for place in range(500)) for block in range(5)]
    return Stream(blocks, b"", "audio/mpeg")


def transcriptions(request: Request) -> Whole:
    # API reference, "Create transcription": a form (RFC 7578) with a file and a model.
    if "multipart/form-data" not in request.headers.get("content-type", ""):
        refuse("Could not parse multipart form")
    names = set(re.findall(rb'name="([^"]+)"', request.raw))
    for field in (b"file", b"model"):
        if field not in names:
            said = f"[{{'type': 'missing', 'loc': ('body', '{field.decode()}'), 'msg': 'Field required', 'input': None}}]"
            refuse(said)
    return Whole({"text": f"heard {request.number}"})


ENDPOINTS = {
    "/models": models,
    "/embeddings": embeddings,
    "/completions": completions,
    "/images/generations": images,
    "/audio/speech": speech,
    "/audio/transcriptions": transcriptions,
}
