"""Traces of OpenTelemetry, as its own definitions and names read them."""

import json
import re
import subprocess

import openai
import pytest
import retold
from google.protobuf import json_format
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai
from retold._program import program

NAMES = {value for name, value in vars(gen_ai).items() if name.startswith("GEN_AI_")}


@pytest.fixture
def trace(log, model, tmp_path):
    """Two calls, one of them with a tool, and a call that fails."""
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1", max_retries=0)
    tool = {"type": "function", "function": {"name": "w", "parameters": {"type": "object"}}}
    with retold.record(log, name="calls") as run:
        with run.call("vote", participant="Ada", dialogue="d 1"):
            client.chat.completions.create(
                model="m",
                messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "ä\u0000\u2028?"}],
                temperature=1,
                seed=7,
                stop=["END"],
            )
            run.decide("vote", "yes")
        client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": "Weather?"}],
            tools=[tool],
            response_format={"type": "json_object"},
        )
    file = tmp_path / "trace.jsonl"
    subprocess.run([program(), "--log", log, "export", "calls", file, "--as", "otlp"], check=True)
    # Other line separators than \n are part of texts.
    return file.read_text().rstrip("\n").split("\n")


def spans(lines):
    """The spans, read by the definitions: a field that they do not have is an error."""
    for line in lines:
        value = json.loads(line)
        for resource in value["resourceSpans"]:
            for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
                # OTLP writes ids in hex, and not in base64 as other bytes.
                assert re.fullmatch("[0-9a-f]{32}", span["traceId"])
                assert re.fullmatch("[0-9a-f]{16}", span["spanId"])
        data = json_format.ParseDict(value, trace_pb2.TracesData())
        yield from (span for resource in data.resource_spans for scope in resource.scope_spans for span in scope.spans)


def plain(attributes):
    value = lambda any: getattr(any, any.WhichOneof("value"))  # noqa: E731
    return {attribute.key: value(attribute.value) for attribute in attributes}


def test_a_trace_is_what_its_definitions_and_names_say(trace):
    vote, weather, root = spans(trace)
    assert (vote.kind, root.kind) == (trace_pb2.Span.SPAN_KIND_CLIENT, trace_pb2.Span.SPAN_KIND_INTERNAL)
    assert vote.name == "chat m"
    assert vote.end_time_unix_nano >= vote.start_time_unix_nano > 0
    attributes = plain(vote.attributes)
    for name in {*attributes, *plain(weather.attributes)}:
        assert name in NAMES or name.startswith("retold."), name
    assert attributes[gen_ai.GEN_AI_OPERATION_NAME] == gen_ai.GenAiOperationNameValues.CHAT.value
    assert attributes[gen_ai.GEN_AI_PROVIDER_NAME] == gen_ai.GenAiProviderNameValues.OPENAI.value
    assert attributes[gen_ai.GEN_AI_CONVERSATION_ID] == "d 1"
    assert (attributes[gen_ai.GEN_AI_REQUEST_TEMPERATURE], attributes[gen_ai.GEN_AI_REQUEST_SEED]) == (1.0, 7)
    assert attributes[gen_ai.GEN_AI_USAGE_INPUT_TOKENS] == 1
    assert json.loads(attributes[gen_ai.GEN_AI_INPUT_MESSAGES]) == [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "ä\u0000\u2028?"}]},
    ]
    (output,) = json.loads(attributes[gen_ai.GEN_AI_OUTPUT_MESSAGES])
    assert (output["role"], output["finish_reason"]) == ("assistant", "stop")
    assert attributes["retold.label.participant"] == "Ada"
    assert [event.name for event in vote.events] == ["retold.decision"]
    assert plain(weather.attributes)[gen_ai.GEN_AI_OUTPUT_TYPE] == gen_ai.GenAiOutputTypeValues.JSON.value
    assert json.loads(plain(weather.attributes)[gen_ai.GEN_AI_TOOL_DEFINITIONS])[0]["function"]["name"] == "w"
