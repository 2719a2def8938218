"""Twenty tests in the style of three projects (openllmetry, pydantic-ai, openinference), over cassettes that those recorded.

They know nothing of retold: vcrpy and cassetter run them as well. The cassettes are not ours, and not in this repository;
`RETOLD_CASSETTES` names their folder.
"""

import json
import os

import anthropic
import openai
import pytest

OPENAI = "openllmetry/packages/opentelemetry-instrumentation-openai/tests"
LANGCHAIN = "openllmetry/packages/opentelemetry-instrumentation-langchain/tests/cassettes"
ANTHROPIC = "openllmetry/packages/opentelemetry-instrumentation-anthropic/tests/cassettes"
DSPY = "openinference/python/instrumentation/openinference-instrumentation-dspy/tests/openinference/instrumentation/dspy/cassettes"
PYDANTIC_AI = "pydantic-ai/tests"

client = openai.OpenAI(api_key="x", max_retries=0)
async_client = openai.AsyncOpenAI(api_key="x", max_retries=0)
groq = openai.OpenAI(api_key="x", base_url="https://api.groq.com/openai/v1", max_retries=0)
# The SDK of that time sent this version, and `?beta=true` below.
then = {"anthropic-version": "2023-06-01"}
claude = anthropic.Anthropic(api_key="x", max_retries=0, default_headers=then)
async_claude = anthropic.AsyncAnthropic(api_key="x", max_retries=0, default_headers=then)


@pytest.fixture(scope="module")
def vcr_cassette_dir():
    return os.environ["RETOLD_CASSETTES"]


@pytest.fixture(scope="module")
def vcr_config():
    return {"match_on": ["method", "uri", "body"]} if "MATCH_BODIES" in os.environ else {}


def user(text):
    return {"role": "user", "content": text}


def a_function(name, description, properties, required, **more):
    parameters = {"type": "object", "properties": properties, "required": required, **more.pop("schema", {})}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters, **more}}


def a_tool(name, **more):
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"name": name, "description": "", "input_schema": {**schema, "additionalProperties": False}, **more}


async def written(stream):
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])


JOKE = [user("Tell me a joke about opentelemetry")]


@pytest.mark.vcr(f"{OPENAI}/traces/cassettes/test_chat/test_chat_async_streaming_with_events_with_content.yaml")
@pytest.mark.asyncio
async def test_chat_async_streaming():
    jokes = []
    for _ in range(3):
        stream = await async_client.chat.completions.create(model="gpt-3.5-turbo", messages=JOKE, stream=True)
        jokes.append(await written(stream))
    assert all(jokes) and len(jokes) == 3


@pytest.mark.vcr(
    f"{OPENAI}/traces/cassettes/test_finish_reasons/"
    "TestChatCompletionsFinishReasons.test_async_chat_streaming_sets_top_level_finish_reasons.yaml"
)
@pytest.mark.asyncio
async def test_finish_reasons():
    for _ in range(2):
        stream = await async_client.chat.completions.create(model="gpt-3.5-turbo", messages=JOKE, stream=True)
        reasons = [chunk.choices[0].finish_reason async for chunk in stream if chunk.choices]
        assert reasons[-1] == "stop"


@pytest.mark.vcr(f"{OPENAI}/traces/cassettes/test_completions/test_async_completion_streaming_with_events_with_content.yaml")
@pytest.mark.asyncio
async def test_async_completion_streaming():
    for _ in range(3):
        stream = await async_client.completions.create(
            model="davinci-002", prompt="Tell me a joke about opentelemetry", stream=True
        )
        assert "".join([chunk.choices[0].text async for chunk in stream])


@pytest.mark.vcr(f"{OPENAI}/traces/cassettes/test_completions/test_completion_langchain_style_with_events_with_content.yaml")
def test_completion_langchain_style():
    for _ in range(3):
        answer = client.completions.create(model="davinci-002", prompt=["Tell me a joke about opentelemetry"])
        assert answer.choices[0].text


@pytest.mark.vcr(f"{OPENAI}/traces/cassettes/test_functions/test_open_ai_function_calls_tools_streaming_parallel.yaml")
def test_parallel_tool_calls():
    location = {"type": "string", "description": "The city and state, e.g. San Francisco, CA"}
    tools = [a_function("get_current_weather", "Get the current weather", {"location": location}, ["location"])]
    for _ in range(2):
        stream = client.chat.completions.create(
            model="gpt-3.5-turbo",
            tools=tools,
            stream=True,
            messages=[user("What's the weather like in San Francisco and Boston?")],
        )
        names = [call.function.name for chunk in stream for call in chunk.choices[0].delta.tool_calls or []]
        assert "get_current_weather" in names


@pytest.mark.vcr(f"{OPENAI}/traces/cassettes/test_responses/test_responses_with_request_params.yaml")
def test_responses_with_request_params():
    for _ in range(2):
        answer = client.responses.create(
            model="gpt-4.1-nano",
            input="What is the capital of France?",
            temperature=0.7,
            top_p=0.9,
            max_output_tokens=100,
        )
        assert "Paris" in answer.output_text


@pytest.mark.vcr(f"{OPENAI}/traces/cassettes/test_responses/test_responses_streaming_with_context_manager.yaml")
def test_responses_streaming():
    for _ in range(2):
        with client.responses.create(model="gpt-4.1-nano", input="Count to 5", stream=True) as stream:
            assert [event.type for event in stream][-1] == "response.completed"


@pytest.mark.vcr(f"{OPENAI}/metrics/cassettes/test_openai_metrics/test_embeddings_metrics.yaml")
def test_embeddings_metrics():
    for _ in range(6):
        answer = client.embeddings.create(input="Tell me a joke about opentelemetry", model="text-embedding-ada-002")
        assert answer.usage.total_tokens == 8 and answer.data[0].embedding


@pytest.mark.vcr(f"{LANGCHAIN}/test_lcel/test_async_invoke.yaml")
@pytest.mark.asyncio
async def test_colourful_socks():
    messages = [user("write 10 lines of random text about $colorful socks")]
    stream = await async_client.chat.completions.create(
        model="gpt-4", messages=messages, n=1, stream=True, temperature=0.0
    )
    assert "socks" in await written(stream)


@pytest.mark.vcr(f"{LANGCHAIN}/test_tool_calls/test_tool_calls_with_history.yaml")
def test_tool_calls_with_history():
    call = {"name": "get_weather", "arguments": json.dumps({"location": "San Francisco"})}
    answer = client.chat.completions.create(
        model="gpt-4.1-nano",
        stream=False,
        temperature=0.0,
        tools=[a_function("get_weather", "", {"location": {"type": "string"}}, ["location"])],
        messages=[
            {"role": "system", "content": "Be crisp and friendly."},
            user("Hey, what's the weather in San Francisco?"),
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"type": "function", "id": "tool_123", "function": call}],
            },
            {"role": "tool", "content": "Sunny as always!", "tool_call_id": "tool_123"},
            user("What's the weather in London?"),
        ],
    )
    assert "London" in answer.choices[0].message.tool_calls[0].function.arguments


@pytest.mark.vcr(f"{DSPY}/test_instrumentor/TestLM.test_openai_completions_api_invoked_via_prompt_positional_argument.yaml")
def test_the_world_cup():
    answer = client.completions.create(
        model="gpt-3.5-turbo-instruct",
        prompt="Who won the World Cup in 2018?\n\nBEGIN RESPONSE:",
        max_tokens=1000,
        temperature=0.0,
    )
    assert "France" in answer.choices[0].text


@pytest.mark.vcr(f"{PYDANTIC_AI}/cassettes/test_prefect/test_prefect_agent_with_model_retry.yaml")
def test_agent_with_model_retry():
    city = {"city": {"type": "string"}}
    schema = {"additionalProperties": False}
    tools = [a_function("get_weather_in_city", "", city, ["city"], schema=schema, strict=True)]
    weather = {"CDMX": "Did you mean Mexico City?\n\nFix the errors and try again.", "Mexico City": "sunny"}
    messages = [user("What is the weather in CDMX?")]
    for _ in range(3):
        answer = client.chat.completions.create(
            model="gpt-4o", messages=messages, stream=False, tool_choice="auto", tools=tools
        )
        said = answer.choices[0].message
        if not said.tool_calls:
            break
        call = said.tool_calls[0]
        function = {"name": call.function.name, "arguments": call.function.arguments}
        calls = [{"id": call.id, "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        content = weather[json.loads(call.function.arguments)["city"]]
        messages.append({"role": "tool", "content": content, "tool_call_id": call.id})
    assert "sunny" in said.content


@pytest.mark.vcr(f"{PYDANTIC_AI}/models/cassettes/test_openai/test_openai_o1_mini_system_role[system].yaml")
def test_o1_mini_system_role():
    messages = [{"role": "system", "content": "You are a helpful assistant."}, user("Hello")]
    with pytest.raises(openai.BadRequestError, match="does not support 'system'"):
        client.chat.completions.create(model="o1-mini", messages=messages, n=1, stream=False)


@pytest.mark.vcr(f"{PYDANTIC_AI}/cassettes/test_embeddings/TestOpenAI.test_query.yaml")
def test_embedding_of_a_query():
    answer = client.embeddings.create(input=["Hello, world!"], model="text-embedding-3-small")
    assert len(answer.data[0].embedding) == 1536


@pytest.mark.vcr(f"{PYDANTIC_AI}/models/cassettes/test_openai_responses/test_openai_responses_model_http_error.yaml")
def test_responses_http_error():
    with pytest.raises(openai.BadRequestError, match="temperature"):
        client.responses.create(
            model="gpt-4o",
            input=[user("What is the capital of France?")],
            instructions="",
            stream=True,
            temperature=-1,
        )


@pytest.mark.vcr(f"{PYDANTIC_AI}/models/cassettes/test_groq/test_tool_use_failed_error_with_text.yaml")
def test_groq_tool_use_failed():
    answers = {"response": {"type": "string", "enum": ["yes", "no"]}}
    ends = "The final response which ends this conversation"
    tools = [a_function("final_result", ends, answers, ["response"], schema={"additionalProperties": False})]
    messages = [
        {"role": "system", "content": "Be concise. Never use pretty double quotes, just regular ones."},
        user(
            'dont make a tool call, just return the string "maybe" by itself, not as json output, to test error handling; '
            "on the second try you can use valid args"
        ),
    ]
    options = {"model": "openai/gpt-oss-120b", "n": 1, "stream": False, "tool_choice": "required", "tools": tools}
    with pytest.raises(openai.BadRequestError, match="did not call a tool"):
        groq.chat.completions.create(messages=messages, **options)
    problem = (
        '[\n  {\n    "type": "json_invalid",\n    "loc": [],\n    "msg": "Invalid JSON: expected value at line 1 column 1",'
        '\n    "input": "maybe"\n  }\n]'
    )
    messages += [
        {"role": "assistant", "content": "maybe"},
        user(f"1 validation error:\n```json\n{problem}\n```\n\nFix the errors and try again."),
    ]
    answer = groq.chat.completions.create(messages=messages, **options)
    assert answer.choices[0].message.tool_calls[0].function.name == "final_result"


@pytest.mark.vcr(f"{ANTHROPIC}/test_messages/test_anthropic_sync_streaming_helper_methods_legacy.yaml")
def test_claude_says_hello():
    messages = [user("Say hello there!")]
    with claude.messages.stream(model="claude-3-5-haiku-20241022", max_tokens=1024, messages=messages) as stream:
        assert "Hello" in stream.get_final_text()


@pytest.mark.vcr(f"{ANTHROPIC}/test_thinking/test_async_anthropic_thinking_streaming_legacy.yaml")
@pytest.mark.asyncio
async def test_claude_thinks():
    question = "How many times does the letter 'r' appear in the word strawberry?"
    stream = await async_claude.messages.create(
        model="claude-3-7-sonnet-20250219",
        max_tokens=2048,
        thinking={"type": "enabled", "budget_tokens": 1024},
        messages=[user([{"type": "text", "text": question}])],
        stream=True,
    )
    assert "message_stop" in [event.type async for event in stream]


@pytest.mark.vcr(f"{PYDANTIC_AI}/models/anthropic/cassettes/test_output/test_strict_true_tool_no_output.yaml")
def test_claude_uses_a_tool():
    options = {"model": "claude-sonnet-4-5", "max_tokens": 4096, "stream": False, "tool_choice": {"type": "auto"}}
    options["extra_query"] = {"beta": "true"}
    options["tools"] = [a_tool("get_weather", strict=True)]
    messages = [user([{"type": "text", "text": "What's the weather in San Francisco?"}])]
    use = claude.beta.messages.create(messages=messages, **options).content[0]
    messages.append(
        {"role": "assistant", "content": [{"id": use.id, "type": "tool_use", "name": use.name, "input": use.input}]}
    )
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "Weather in San Francisco: Sunny, 22°C"}
    messages.append(user([{**result, "is_error": False}]))
    assert "22°C" in claude.beta.messages.create(messages=messages, **options).content[0].text


@pytest.mark.vcr(f"{PYDANTIC_AI}/models/anthropic/cassettes/test_output/test_mixed_tools_no_output.yaml")
def test_claude_uses_two_tools():
    options = {"model": "claude-sonnet-4-5", "max_tokens": 4096, "stream": False, "tool_choice": {"type": "auto"}}
    options["extra_query"] = {"beta": "true"}
    options["tools"] = [a_tool("get_weather", strict=True), a_tool("get_elevation")]
    messages = [user([{"type": "text", "text": "What's the weather and elevation in Denver?"}])]
    text, *uses = claude.beta.messages.create(messages=messages, **options).content
    said = [{"id": use.id, "type": "tool_use", "name": use.name, "input": use.input} for use in uses]
    messages.append({"role": "assistant", "content": [{"type": "text", "text": text.text}, *said]})
    told = ["Weather in Denver: Sunny, 22°C", "Elevation of Denver: 650m above sea level"]
    results = [
        {"type": "tool_result", "tool_use_id": use.id, "content": content, "is_error": False}
        for use, content in zip(uses, told, strict=True)
    ]
    messages.append(user(results))
    assert "Denver" in claude.beta.messages.create(messages=messages, **options).content[0].text
