"""The clients that `scripts/clients` records and replays, and how each finds the server."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Client:
    package: str
    program: str
    variables: dict[str, str] = field(default_factory=dict)
    """What the program's environment has when it is recorded; `URL` stands for the address of the fake upstream."""
    options: list[str] = field(default_factory=list)
    """Options of `retold record`, with `URL` as well."""
    inside: dict[str, str] = field(default_factory=dict)
    """Variables that only a block of the Python package needs: `retold record` sets them, or intercepts the host."""


OPENAI = {"OPENAI_BASE_URL": "URL/v1"}
ANTHROPIC = {"ANTHROPIC_BASE_URL": "URL"}
GEMINI = {"GOOGLE_GEMINI_BASE_URL": "URL"}
MISTRAL = "URL/mistral"
INTERCEPTED = ["--intercept", "--host", "bedrock-runtime.eu-west-1.amazonaws.com=URL"]

CLIENTS = [
    Client("httpx", "of_http.py", options=["--upstream", "all=URL"], inside={"ALL_BASE_URL": "URL"}),
    Client("litellm", "of_litellm.py", OPENAI),
    Client("pydantic-ai-slim", "of_pydantic_ai.py", OPENAI),
    Client("openai-agents", "of_agents.py", OPENAI),
    Client("instructor", "of_instructor.py", OPENAI),
    Client("llama-index-llms-openai", "of_llama_index.py", OPENAI),
    Client("cohere", "of_cohere.py", options=["--upstream", "cohere=URL"], inside={"COHERE_BASE_URL": "URL"}),
    Client("mistralai", "of_mistral.py", options=["--upstream", f"mistral={MISTRAL}"], inside={"MISTRAL_BASE_URL": MISTRAL}),
    Client("boto3", "of_boto3.py", options=INTERCEPTED, inside={"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "URL"}),
    Client("cohere-ai", "cohere.mjs", options=["--upstream", "co=URL"]),
    Client("ai", "ai_openai.mjs", OPENAI),
    Client("ai", "ai_anthropic.mjs", ANTHROPIC),
    Client("ai", "ai_google.mjs", GEMINI),
    Client("@anthropic-ai/sdk", "anthropic_sdk.mjs", ANTHROPIC),
    Client("@google/genai", "google_genai.mjs", GEMINI),
    Client("net/http", "plain.go", OPENAI),
]
