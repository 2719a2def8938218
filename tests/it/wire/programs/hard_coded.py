"""A program with its host written into it, as it is: OpenAI's SDK and the standard library."""

import json
import os
import urllib.request

from openai import OpenAI

HOST = "https://api.example.test/v1"
client = OpenAI(base_url=HOST, api_key=os.environ.get("STUDY_KEY", "none"), max_retries=0)


def ask(question, **more):
    messages = [{"role": "user", "content": question}]
    return client.chat.completions.create(model="m", messages=messages, **more)


print(ask("one question").choices[0].message.content)
print("".join(chunk.choices[0].delta.content or "" for chunk in ask("a stream", stream=True) if chunk.choices))
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "by hand"}]}).encode()
headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ.get("STUDY_KEY", "none")}
with urllib.request.urlopen(urllib.request.Request(HOST + "/chat/completions", body, headers)) as reply:
    print(json.load(reply)["choices"][0]["message"]["content"])
