"""More of OpenAI's SDK: structured output, and responses and embeddings, async and streamed."""

import asyncio

import openai
from pydantic import BaseModel

QUESTION = [{"role": "user", "content": "Name a colour."}]


class Colour(BaseModel):
    answer: str
    number: int


def structured() -> None:
    client = openai.OpenAI(max_retries=5)
    for _ in range(2):
        answer = client.chat.completions.parse(model="m", messages=QUESTION, response_format=Colour)
        print(answer.choices[0].message.parsed)
        print(client.responses.parse(model="m", input=QUESTION, text_format=Colour).output_parsed)
    with client.chat.completions.stream(model="m", messages=QUESTION, response_format=Colour) as stream:
        for event in stream:
            print(event.type)
        print(stream.get_final_completion().choices[0].message.parsed)


async def together() -> None:
    client = openai.AsyncOpenAI(max_retries=5)

    async def response(n: int) -> str:
        answer = await client.responses.create(model="m", input=f"Question {n}")
        return answer.output_text

    async def stream(n: int) -> list[str]:
        events = await client.responses.create(model="m", input=f"Question {n}", stream=True)
        return [event.to_json(indent=None) async for event in events]

    async def embedding(n: int) -> list[float]:
        answer = await client.embeddings.create(model="m", input=[f"text {n}", "another"])
        return [number for vector in answer.data for number in vector.embedding]

    jobs = [of(n) for n in range(4) for of in (response, stream, embedding)]
    for result in await asyncio.gather(*jobs):
        print(result)
    # The same three times: which of them gets which answer is left to chance.
    print(sorted(await asyncio.gather(*[response(9) for _ in range(3)])))


structured()
asyncio.run(together())
