"""boto3's client of Bedrock, whose host is written into it: recorded with `--intercept`."""

import json

import boto3
import scenes
from botocore.config import Config

KEYS = {"aws_access_key_id": "AKIAEXAMPLE", "aws_secret_access_key": scenes.KEY or "none", "region_name": "eu-west-1"}
SCHEMA = {"json": {"type": "object", "properties": {"place": {"type": "string"}}}}
TOOLS = [{"toolSpec": {"name": name, "inputSchema": SCHEMA}} for name in ("weather", "wind")]


def made(attempts: int = 5, limit: float = 60):
    retries = {"max_attempts": attempts, "mode": "standard"}
    settings = Config(retries=retries, read_timeout=limit, max_pool_connections=16)
    return boto3.client("bedrock-runtime", config=settings, **KEYS)


client = made()


def messages(question: str) -> list:
    return [{"role": "user", "content": [{"text": question}]}]


def ask(question: str, client=client, **more) -> str:
    return client.converse(modelId="m", messages=messages(question), **more)["output"]["message"]["content"][0]["text"]


def tools() -> list:
    asked = {"modelId": "m", "messages": messages(scenes.WEATHER), "toolConfig": {"tools": TOOLS}}
    message = client.converse(**asked)["output"]["message"]
    calls = [part["toolUse"] for part in message["content"]]
    results = [{"toolResult": {"toolUseId": call["toolUseId"], "content": [{"json": call["input"]}]}} for call in calls]
    asked["messages"] += [message, {"role": "user", "content": results}]
    return [calls, client.converse(**asked)["output"]["message"]]


def stream(question: str) -> list:
    return scenes.parts(client.converse_stream(modelId="m", messages=messages(question))["stream"], str)


def invocation(question: str) -> dict:
    claude = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 100}
    body = json.dumps({**claude, "messages": [{"role": "user", "content": question}]})
    return {"modelId": "anthropic.claude-3-haiku-20240307-v1:0", "body": body}


scenes.play(
    ask,
    stream,
    tools=tools,
    invoked=lambda: client.invoke_model(**invocation(scenes.COLOUR))["body"].read(),
    invoked_stream=lambda: scenes.parts(client.invoke_model_with_response_stream(**invocation(scenes.STORY))["body"], str),
    timeout=lambda: ask(scenes.NEVER, made(attempts=1, limit=scenes.LIMIT)),
    refused=lambda: client.converse(
        modelId="m",
        messages=[{"role": "user", "content": [{"toolResult": {"toolUseId": "none", "content": [{"text": "fine"}]}}]}],
    ),
)
