"""Asks one question after the other with a provider's SDK, and ends at the first error."""

import os

RETRIES = int(os.environ.get("RETRIES", "0"))


def openai(question: str) -> str:
    import openai

    client = openai.OpenAI(max_retries=RETRIES)
    messages = [{"role": "user", "content": question}]
    if "STREAM" not in os.environ:
        return client.chat.completions.create(model="m", messages=messages).choices[0].message.content
    events = client.chat.completions.create(model="m", messages=messages, stream=True)
    return "".join(event.choices[0].delta.content or "" for event in events if event.choices)


def anthropic(question: str) -> str:
    import anthropic

    client = anthropic.Anthropic(max_retries=RETRIES)
    messages = [{"role": "user", "content": question}]
    if "STREAM" not in os.environ:
        return client.messages.create(model="m", max_tokens=9, messages=messages).content[0].text
    with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
        return "".join(stream.text_stream)


for question in "abc":
    print({"openai": openai, "anthropic": anthropic}[os.environ["SDK"]](question), flush=True)
