"""httpx without an SDK: every API that the fake upstream speaks, whole and streamed, with each of its failures.

Prints the status, the content type and the bytes of each answer, as far as they came.
"""

import hashlib
import os

import httpx

KEYS = {"authorization": "Bearer " + (os.environ.get("STUDY_KEY") or "none")}
CLAUDE = {"anthropic-version": "2023-06-01"}
VERTEX = "/v1/projects/p/locations/l/publishers"
FAILURES = ["", "E429x1", "E500x1", "KEEPALIVE", "CUT-IN", "CUT-BETWEEN", "ERROR-INSIDE", "NO-TYPE", "WRONG-TYPE", "GZIP"]
FAILURES += ["HANG-UP", "SLOW", "BIG=2000"]


def said(text: str) -> dict:
    return {"messages": [{"role": "user", "content": text}]}


def claude(text: str, **more) -> dict:
    return {"max_tokens": 9, **said(text), **more}


def gemini(text: str) -> dict:
    return {"contents": [{"role": "user", "parts": [{"text": text}]}]}


def turns(text: str) -> dict:
    return {"messages": [{"role": "user", "content": [{"text": text}]}]}


ASKED = {
    "chat": ("/v1/chat/completions", lambda text: {"model": "m", **said(text)}),
    "chat, streamed": ("/v1/chat/completions", lambda text: {"model": "m", "stream": True, **said(text)}),
    "responses": ("/v1/responses", lambda text: {"model": "m", "input": text}),
    "responses, streamed": ("/v1/responses", lambda text: {"model": "m", "input": text, "stream": True}),
    "completions": ("/v1/completions", lambda text: {"model": "m", "prompt": text}),
    "completions, streamed": ("/v1/completions", lambda text: {"model": "m", "prompt": text, "stream": True}),
    "embeddings": ("/v1/embeddings", lambda text: {"model": "m", "input": [text, "a"]}),
    "images": ("/v1/images/generations", lambda text: {"prompt": text}),
    "speech": ("/v1/audio/speech", lambda text: {"model": "m", "input": text, "voice": "v"}),
    "anthropic": ("/v1/messages", lambda text: claude(text, model="m")),
    "anthropic, streamed": ("/v1/messages", lambda text: claude(text, model="m", stream=True)),
    "anthropic, vertex": (
        f"{VERTEX}/anthropic/models/m:streamRawPredict",
        lambda text: claude(text, anthropic_version="vertex-2023-10-16", stream=True),
    ),
    "gemini": ("/v1beta/models/m:generateContent", gemini),
    "gemini, streamed": ("/v1beta/models/m:streamGenerateContent?alt=sse", gemini),
    "gemini, an array": ("/v1beta/models/m:streamGenerateContent", gemini),
    "gemini, vertex": (f"{VERTEX}/google/models/m:streamGenerateContent?alt=sse", gemini),
    "cohere": ("/v2/chat", lambda text: {"model": "m", **said(text)}),
    "cohere, streamed": ("/v2/chat", lambda text: {"model": "m", "stream": True, **said(text)}),
    "cohere, version 1": ("/v1/chat", lambda text: {"model": "m", "message": text}),
    "cohere, version 1, streamed": ("/v1/chat", lambda text: {"model": "m", "message": text, "stream": True}),
    "gemini, embeddings": (
        "/v1beta/models/m:batchEmbedContents",
        lambda text: {"requests": [{"model": "models/m", "content": {"parts": [{"text": text}]}}]},
    ),
    "vertex, embeddings": (f"{VERTEX}/google/models/m:predict", lambda text: {"instances": [{"content": text}]}),
    "mistral, vertex": (f"{VERTEX}/mistralai/models/m:streamRawPredict", lambda text: {"model": "m", **said(text)}),
    "converse": ("/model/m/converse", turns),
    "converse, streamed": ("/model/m/converse-stream", turns),
    "invoke": ("/model/m/invoke", lambda text: claude(text, anthropic_version="bedrock-2023-05-31")),
    "invoke, streamed": (
        "/model/m/invoke-with-response-stream",
        lambda text: claude(text, anthropic_version="bedrock-2023-05-31"),
    ),
    "ollama": ("/api/chat", lambda text: {"model": "m", "stream": False, **said(text)}),
    "ollama, streamed": ("/api/chat", lambda text: {"model": "m", **said(text)}),
    "mistral, streamed": ("/mistral/v1/chat/completions", lambda text: {"model": "m", "stream": True, **said(text)}),
}


def asked(client: httpx.Client, path: str, body: dict) -> str:
    read, end, status = b"", "", ""
    try:
        with client.stream("POST", os.environ["ALL_BASE_URL"] + path, json=body) as answer:
            status = f"{answer.status_code} {answer.headers.get('content-type')}"
            for part in answer.iter_bytes():
                read += part
    except httpx.HTTPError as error:
        end = type(error).__name__
    return f"{status} {len(read)} {hashlib.sha256(read).hexdigest()[:16]} {end}".strip()


with httpx.Client(headers={**KEYS, **CLAUDE}, timeout=30) as client:
    for name, (path, body) in ASKED.items():
        for failure in FAILURES:
            for _ in range(2):
                print(f"{name} {failure}: {asked(client, path, body(f'{failure} Name a colour.'))}")
