"""The other APIs with their own SDKs, streamed and not: OpenAI's responses and embeddings, Anthropic, Gemini."""

import asyncio

import anthropic
import openai
from google import genai


def of_openai() -> None:
    client = openai.OpenAI(max_retries=5)
    for _ in range(3):
        answer = client.responses.create(model="m", instructions="Be short.", input="Name a colour.")
        print(answer.output_text, answer.usage.total_tokens)
    for event in client.responses.create(model="m", input=[{"role": "user", "content": "Name a colour."}], stream=True):
        print(event.to_json(indent=None))
    for texts in ["one", ["one", "two"], "one"]:
        answer = client.embeddings.create(model="m", input=texts)
        print([vector.embedding for vector in answer.data])


def of_anthropic() -> None:
    client = anthropic.Anthropic(max_retries=5)
    question = [{"role": "user", "content": "Name a colour."}]
    for _ in range(3):
        answer = client.messages.create(model="m", max_tokens=9, system="Be short.", messages=question)
        print(answer.to_json(indent=None))
    with client.messages.stream(model="m", max_tokens=9, messages=question) as stream:
        for text in stream.text_stream:
            print(text)
        print(stream.get_final_message().to_json(indent=None))
    print(client.messages.count_tokens(model="m", messages=question).input_tokens)


async def of_gemini() -> None:
    client = genai.Client()
    for _ in range(3):
        print(client.models.generate_content(model="m", contents="Name a colour.").text)
    for event in client.models.generate_content_stream(model="m", contents="Name a colour."):
        print(event.text)
    answers = [client.aio.models.generate_content(model="m", contents=f"Question {n}") for n in range(4)]
    print([answer.text for answer in await asyncio.gather(*answers)])


of_openai()
of_anthropic()
asyncio.run(of_gemini())
