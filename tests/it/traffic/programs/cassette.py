"""Sends every request of a cassette again, and compares what comes with what the cassette has.

A plain client that knows nothing of retold but the address it is given. The cassette is read with
vcrpy's own loader, so that nothing here depends on how retold reads it.

usage: cassette.py CASSETTE UPSTREAMS REPORT [SEED]

UPSTREAMS is a JSON object of base URLs by name. With a SEED, one request is changed in one field, and
the report has the field and what the miss says instead.
"""

import base64
import gzip
import http.client
import importlib.util
import json
import re
import os
import random
import sys
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import yaml


def loader():
    """vcrpy's loader, from its file: the package imports every HTTP client that is installed, which takes a second."""
    package = Path(importlib.util.find_spec("vcr").origin).parent
    spec = importlib.util.spec_from_file_location("yamlserializer", package / "serializers" / "yamlserializer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module._CassetteLoader


HOP = {"host", "content-length", "transfer-encoding", "accept-encoding", "connection", "content-encoding"}
TRANSPORT = {"stream", "stream_options", "store", "metadata", "keep_alive"}


# Python cannot decode these without more packages; the cassettes of this repository say in such bodies
# how they are encoded.
WORDS = {"br": b"brotli", "zstd": b"zstd"}


class Word(bytes):
    """Stands for every text that has this word in it."""

    def __eq__(self, other):
        return bytes(self) in other and other.startswith(b"{")

    __hash__ = None


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file) if path.endswith(".json") else yaml.load(file, Loader=loader())


def values(headers):
    for name, all_values in (headers or {}).items():
        for value in all_values if isinstance(all_values, (list, tuple)) else [all_values]:
            yield name, value.decode("latin-1") if isinstance(value, bytes) else str(value)


def header(headers, name):
    return next((value for key, value in values(headers) if key.lower() == name), None)


def raw(value):
    if value is None:
        return b""
    if hasattr(value, "read"):
        return value.read()
    return value.encode() if isinstance(value, str) else bytes(value)


def body(node):
    """The bytes of a body without content encoding, or the JSON that it holds."""
    if node.get("parsed_body") is not None:
        return None, node["parsed_body"]
    content = node["content"] if "content" in node else node.get("body")
    if isinstance(content, dict):
        if set(content) == {"string"}:
            content = content["string"]
        elif set(content) == {"base64_string"}:
            content = base64.b64decode(content["base64_string"])
        else:
            return None, content
    return decoded(raw(content), header(node.get("headers"), "content-encoding")), None


def decoded(content, encoding):
    if encoding == "gzip":
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    if encoding == "deflate":
        return zlib.decompress(content)
    if encoding in WORDS:
        return Word(WORDS[encoding])
    return content


def placed(uri, upstreams):
    """The path of a URI at the server."""
    parts = urlsplit(uri)
    usual = {"http": ":80", "https": ":443"}[parts.scheme]
    host = parts.netloc.rsplit("@", 1)[-1]
    host = host[: -len(usual)] if host.endswith(usual) else host
    whole = f"{parts.scheme}://{host}{parts.path or '/'}"
    fits = [(len(base), name, base) for name, base in upstreams.items() if whole.startswith(base.rstrip("/") + "/")]
    _, name, base = max(fits)
    query = f"?{parts.query}" if parts.query else ""
    return f"/{name}{whole[len(base.rstrip('/')):]}{query}"


def send(connection, method, path, headers, content):
    connection.putrequest(method.upper(), urlsplit(os.environ["RETOLD_URL"]).path + path, skip_accept_encoding=True)
    for name, value in headers:
        if name.lower() not in HOP:
            connection.putheader(name, value)
    if content or method.upper() not in ("GET", "DELETE"):
        connection.putheader("Content-Length", str(len(content)))
    connection.endheaders(content or None)
    answer = connection.getresponse()
    return answer, answer.read()


def requests(cassette):
    for interaction in cassette["interactions"]:
        if "request" in interaction:
            yield interaction["request"], interaction["response"]


def compare(cassette, upstreams, connection):
    differences, sent = [], 0
    for request, response in requests(cassette):
        content, parsed = body(request)
        content = json.dumps(parsed).encode() if content is None else content
        path = placed(request["uri"], upstreams)
        answer, got = send(connection, request["method"], path, values(request.get("headers")), content)
        sent += 1
        # A replay leads a URL at a host that is not the provider's to its refusal.
        got = re.sub(rb"http://127\.0\.0\.1:\d+/token/[0-9a-f]+/_elsewhere/", b"https://", got)
        status = response.get("status", response.get("status_code"))
        status = status["code"] if isinstance(status, dict) else status
        due, due_parsed = body(response)
        # An answer that repeats the key is recorded without it.
        key = (header(request.get("headers"), "authorization") or "").removeprefix("Bearer ").encode()
        if len(key) >= 12 and due and key in due:
            due = due.replace(key, b"*" * len(key))
        same = json.loads(got) == due_parsed if due is None else due == got
        kind = header(response.get("headers"), "content-type")
        if answer.status != status or answer.getheader("content-type") != kind or not same:
            due = json.dumps(due_parsed).encode() if due is None else due
            differences.append({
                "request": f"{request['method']} {path}",
                "status": [status, answer.status],
                "type": [kind, answer.getheader("content-type")],
                "body": [due[:300].decode("utf-8", "replace"), got[:300].decode("utf-8", "replace")],
            })
    return {"sent": sent, "differences": differences}


def leaves(value, path=()):
    if isinstance(value, dict):
        for name in value:
            yield from leaves(value[name], (*path, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from leaves(item, (*path, at))
    else:
        yield path, value


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return f"{value} changed" if isinstance(value, str) else "changed"


def field(path, target, content):
    """The name that a field of a body has where retold reports it."""
    target = target.split("?")[0]
    name = path[0]
    # What clients make up counts by what is equal to it.
    if path[-1] in ("id", "call_id", "tool_call_id", "tool_use_id", "prompt_cache_key"):
        return None
    shown = lambda *names: ".".join(str(name) for name in names)
    if target.endswith("/chat/completions") and isinstance(content.get("messages"), list):
        return None if name in TRANSPORT - {"keep_alive"} else shown(*path)
    if target.endswith("/embeddings") and "input" in content:
        return shown(*path)
    if target.endswith("/responses") and isinstance(content.get("input"), (list, str)):
        return None if name in TRANSPORT - {"keep_alive"} else shown(*path)
    if target.endswith("/v1/messages") and isinstance(content.get("messages"), list):
        return None if name in ("stream", "metadata") else shown(*path)
    if target.endswith((":generateContent", ":streamGenerateContent")) and isinstance(content.get("contents"), list):
        return shown(*path)
    if target.endswith(("/api/chat", "/api/generate")) and ("messages" in content or "prompt" in content):
        if name in ("stream", "keep_alive"):
            return None
        return shown(*path)
    if target.endswith("/v2/chat") and isinstance(content.get("messages"), list):
        return None if name == "stream" else shown(*path)
    if target.endswith(("/converse", "/converse-stream")) and isinstance(content.get("messages"), list):
        return None if name == "requestMetadata" else shown(*path)
    if target.endswith(("/invoke", "/invoke-with-response-stream")) and {"messages", "prompt", "inputText"} & {*content}:
        return shown(*path)
    if target.endswith("/completions") and "prompt" in content:
        if name in ("stream", "stream_options"):
            return None
        return shown(*path)
    if target.endswith(("/images/generations", "/images/edits")) and "prompt" in content:
        return None if name == "stream" else shown(*path)
    if target.endswith("/audio/speech") and "input" in content:
        return None if name == "stream_format" else shown(*path)
    # How an API that is not known asks for a stream is part of the call alone.
    return None if path == ("stream",) else shown(*path)


def mutated(cassette, upstreams, connection, seed):
    chosen = random.Random(seed)
    everything = list(requests(cassette))
    chosen.shuffle(everything)
    for request, _ in everything:
        content, parsed = body(request)
        if parsed is None and content:
            try:
                parsed = json.loads(content)
            except ValueError:
                continue
        path = placed(request["uri"], upstreams)
        headers = list(values(request.get("headers")))
        if isinstance(parsed, dict) and parsed:
            names = [(at, value, field(at, path, parsed)) for at, value in leaves(parsed)]
            names = [one for one in names if one[2]]
            if not names:
                continue
            at, value, due = chosen.choice(names)
            parsed = json.loads(json.dumps(parsed))
            inner = parsed
            for name in at[:-1]:
                inner = inner[name]
            inner[at[-1]] = changed(value)
            content = json.dumps(parsed).encode()
        elif not content:
            path, due = f"{path}{'&' if '?' in path else '?'}changed=1", "http.query"
        else:
            continue
        answer, got = send(connection, request["method"], path, headers, content)
        error = json.loads(got)
        error = error.get("error", error)
        said = error if isinstance(error, str) else error["message"]
        lines = [line for line in said.splitlines() if line.startswith("first difference at ")]
        named = lines[0].removeprefix("first difference at ").split(" ")[0] if lines else None
        return {"sent": 1, "status": answer.status, "due": due, "named": named, "said": said}
    return {"sent": 0}


def main():
    cassette, upstreams, report, *seed = sys.argv[1:]
    address = urlsplit(os.environ["RETOLD_URL"])
    connection = http.client.HTTPConnection(address.hostname, address.port)
    found = load(cassette)
    upstreams = json.loads(upstreams)
    result = mutated(found, upstreams, connection, int(seed[0])) if seed else compare(found, upstreams, connection)
    with open(report, "w", encoding="utf-8") as file:
        json.dump(result, file)


main()
