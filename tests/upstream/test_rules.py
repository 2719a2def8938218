"""What the fake upstream refuses, and that it answers what is right: `python3 -m unittest discover -s tests -t tests`."""

from __future__ import annotations

import json
import unittest
from http.client import HTTPConnection
from typing import Any

from .server import Upstream

SAID = [{"role": "user", "content": "Name a colour."}]
BEARER = {"authorization": "Bearer key"}
CLAUDE = {"x-api-key": "key", "anthropic-version": "2023-06-01"}
GOOGLE = {"x-goog-api-key": "key"}
CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
GENERATE, COHERE, CONVERSE = "/v1beta/models/m:generateContent", "/v2/chat", "/model/m/converse"
MISTRAL = "/mistral/v1/chat/completions"
MESSAGE = {"model": "m", "max_tokens": 9, "messages": SAID}
CONTENTS = [{"role": "user", "parts": [{"text": "Hi"}]}]
TURNS = [{"role": "user", "content": [{"text": "Hi"}]}]
RESULT = {"type": "tool_result", "tool_use_id": "none", "content": "fine"}

RIGHT = [
    (CHAT, BEARER, {"model": "m", "messages": SAID}),
    (RESPONSES, BEARER, {"model": "m", "input": "Hi"}),
    ("/v1/embeddings", BEARER, {"model": "m", "input": "Hi"}),
    ("/v1/completions", BEARER, {"model": "m", "prompt": "Hi"}),
    ("/v1/images/generations", BEARER, {"prompt": "Hi"}),
    ("/v1/audio/speech", BEARER, {"model": "m", "input": "Hi", "voice": "v"}),
    (MESSAGES, CLAUDE, MESSAGE),
    ("/v1/messages/count_tokens", CLAUDE, {"model": "m", "messages": SAID}),
    (GENERATE, GOOGLE, {"contents": CONTENTS}),
    ("/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent", BEARER, {"contents": CONTENTS}),
    (
        "/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict",
        BEARER,
        {"anthropic_version": "vertex-2023-10-16", "max_tokens": 9, "messages": SAID},
    ),
    (COHERE, BEARER, {"model": "m", "messages": SAID}),
    ("/v2/embed", BEARER, {"model": "m", "input_type": "search_query", "embedding_types": ["float"], "texts": ["a"]}),
    ("/v2/rerank", BEARER, {"model": "m", "query": "a", "documents": ["a"]}),
    (CONVERSE, BEARER, {"messages": TURNS}),
    ("/model/m/converse-stream", BEARER, {"messages": TURNS}),
    ("/model/m/invoke", BEARER, {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": SAID}),
    ("/api/chat", {}, {"model": "m", "messages": SAID}),
    ("/api/generate", {}, {"model": "m", "prompt": "Hi", "stream": False}),
    ("/api/embed", {}, {"model": "m"}),
    (MISTRAL, BEARER, {"model": "m", "messages": SAID}),
    ("/v1/projects/p/locations/l/publishers/mistralai/models/m:rawPredict", BEARER, {"model": "m", "messages": SAID}),
    ("/v1/chat", BEARER, {"model": "m", "message": "Hi"}),
]

WRONG = [
    (CHAT, {}, {"model": "m", "messages": SAID}, 401, "You didn't provide an API key"),
    (CHAT, BEARER, {"messages": SAID}, 400, "you must provide a model parameter"),
    (CHAT, BEARER, {"model": "m"}, 400, "Missing required parameter: 'messages'"),
    (CHAT, BEARER, {"model": "m", "messages": "Hi"}, 400, "expected an array, but got a string"),
    (CHAT, BEARER, {"model": "m", "messages": [{"role": "human", "content": "Hi"}]}, 400, "Invalid value: 'human'"),
    (CHAT, BEARER, {"model": "m", "messages": [{"role": "tool", "tool_call_id": "x", "content": ""}]}, 400, "preceeding"),
    (CHAT, BEARER, {"model": "m", "messages": SAID, "temperature": "hot"}, 400, "expected a decimal"),
    (CHAT, BEARER, {"model": "m", "messages": SAID, "temperature": 3}, 400, "Expected a value <= 2"),
    (CHAT, BEARER, {"model": "m", "messages": SAID, "stream": "yes"}, 400, "expected a boolean"),
    (CHAT, BEARER, {"model": "m", "messages": SAID, "stream_options": {}}, 400, "only allowed when 'stream'"),
    (CHAT, BEARER, {"model": "m", "messages": SAID, "top_k": 3}, 400, "Unrecognized request argument supplied: top_k"),
    (RESPONSES, BEARER, {"model": "m"}, 400, "must be provided"),
    (RESPONSES, BEARER, {"model": "m", "messages": SAID, "input": "Hi"}, 400, "moved to 'input'"),
    (RESPONSES, BEARER, {"model": "m", "input": "Hi", "max_output_tokens": 1}, 400, ">= 16"),
    (
        RESPONSES,
        BEARER,
        {"model": "m", "input": [{"type": "function_call_output", "call_id": "x", "output": ""}]},
        400,
        "No tool call found",
    ),
    (MESSAGES, {"anthropic-version": "2023-06-01"}, MESSAGE, 401, "x-api-key header is required"),
    (MESSAGES, {"x-api-key": "key"}, MESSAGE, 400, "anthropic-version: header is required"),
    (MESSAGES, CLAUDE, {"model": "m", "messages": SAID}, 400, "max_tokens: Field required"),
    (MESSAGES, CLAUDE, {**MESSAGE, "n": 2}, 400, "n: Extra inputs are not permitted"),
    (MESSAGES, CLAUDE, {**MESSAGE, "max_tokens": "9"}, 400, "valid integer"),
    (MESSAGES, CLAUDE, {**MESSAGE, "messages": [{"role": "system", "content": "Hi"}]}, 400, "Unexpected role"),
    (MESSAGES, CLAUDE, {**MESSAGE, "messages": [{"role": "user", "content": [RESULT]}]}, 400, "unexpected `tool_use_id`"),
    (GENERATE, {}, {"contents": CONTENTS}, 403, "unregistered callers"),
    (GENERATE, GOOGLE, {}, 400, "contents is not specified"),
    (GENERATE, GOOGLE, {"contents": [{**CONTENTS[0], "role": "assistant"}]}, 400, "valid role: user, model"),
    (GENERATE, GOOGLE, {"contents": CONTENTS, "messages": SAID}, 400, 'Unknown name \\"messages\\"'),
    (COHERE, {}, {"model": "m", "messages": SAID}, 401, "no api key supplied"),
    (COHERE, BEARER, {"messages": SAID}, 400, "model is required"),
    (COHERE, BEARER, {"model": "m", "messages": [{"role": "tool", "tool_call_id": "x", "content": ""}]}, 400, "tool call id"),
    ("/v2/embed", BEARER, {"model": "m", "input_type": "x", "texts": ["a"]}, 400, "embedding_types is required"),
    (CONVERSE, {}, {"messages": TURNS}, 403, "Missing Authentication Token"),
    (CONVERSE, BEARER, {"messages": []}, 400, "must start with a user message"),
    (CONVERSE, BEARER, {"messages": [{**TURNS[0], "role": "system"}]}, 400, "[user, assistant]"),
    ("/model/m/invoke", BEARER, {"max_tokens": 9, "messages": SAID}, 400, "anthropic_version: Field required"),
    ("/api/chat", {}, {"messages": SAID}, 400, "model is required"),
    (MISTRAL, {}, {"model": "m", "messages": SAID}, 401, "Unauthorized"),
    (MISTRAL, BEARER, {"messages": SAID}, 422, "Field required"),
    (MISTRAL, BEARER, {"model": "m", "messages": SAID, "seed": 1}, 422, "extra_forbidden"),
    (MISTRAL, BEARER, {"model": "m", "messages": [*SAID, {"role": "tool", "content": "x"}]}, 400, "'tool' after role 'user'"),
    ("/v1/chat", BEARER, {"model": "m", "messages": SAID}, 400, "message is required"),
    ("/api/embed", {}, {"model": "m", "input": 7}, 400, "invalid input type"),
    ("/v1/unknown", BEARER, {}, 404, "no API of ours"),
]


class Rules(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.upstream = Upstream().start()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.upstream.stop()

    def ask(self, path: str, headers: dict[str, str], body: Any) -> tuple[int, str]:
        connection = HTTPConnection(*self.upstream.server_address[:2])
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json", **headers})
        answer = connection.getresponse()
        said = answer.status, answer.read().decode("utf-8", "replace")
        connection.close()
        return said

    def test_what_is_right_is_answered(self) -> None:
        for path, headers, body in RIGHT:
            with self.subTest(path):
                status, said = self.ask(path, headers, body)
                self.assertEqual(status, 200, said)

    def test_what_is_wrong_is_refused_in_the_words_of_the_api(self) -> None:
        for path, headers, body, status, words in WRONG:
            with self.subTest(path, words=words):
                got, said = self.ask(path, headers, body)
                self.assertEqual(got, status, said)
                self.assertIn(words, said)
