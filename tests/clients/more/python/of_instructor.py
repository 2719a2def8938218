"""instructor, with OpenAI's SDK: answers by a tool and by a JSON schema, whole and in parts."""

import os

import instructor
import openai
import scenes
from pydantic import BaseModel


class Colour(BaseModel):
    """A colour."""

    answer: str
    number: int


def play(mode: instructor.Mode) -> None:
    client = openai.OpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key=scenes.KEY or "none", max_retries=4)
    structured = instructor.from_openai(client, mode=mode)

    def asked(question: str, **more) -> dict:
        messages = [{"role": "user", "content": question}]
        return {"model": "m", "messages": messages, "response_model": Colour, "max_retries": 1, **more}

    def ask(question: str, **more) -> str:
        return str(structured.chat.completions.create(**asked(question, **more)))

    def impatient() -> str:
        hasty = instructor.from_openai(client.with_options(max_retries=0, timeout=scenes.LIMIT), mode=mode)
        return str(hasty.chat.completions.create(**asked(scenes.NEVER)))

    scenes.play(
        ask,
        lambda question: scenes.parts(structured.chat.completions.create_partial(**asked(question)), str),
        timeout=impatient,
        refused=lambda: ask(scenes.COLOUR, temperature=3.0),
    )


play(instructor.Mode.TOOLS)
play(instructor.Mode.JSON_SCHEMA)
