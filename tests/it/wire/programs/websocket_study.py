"""Asks over the WebSocket of OpenAI's SDK, what WORDS says in two conversations."""

import os

from openai import OpenAI

words = os.environ.get("WORDS", "red red blue").split()
client = OpenAI()
for conversation in range(2):
    with client.responses.connect() as connection:
        previous = None
        for word in words:
            asked = {"previous_response_id": previous} if previous else {}
            connection.response.create(model="m", input=word, **asked)
            for event in connection:
                print(event.to_json(indent=None, use_api_names=True))
                if event.type in ("response.completed", "error"):
                    break
            previous = event.response.id if event.type == "response.completed" else None
