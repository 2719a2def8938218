"""Bedrock by boto3 and Mistral's SDK: retold sets no variable of theirs, so they are caught in process alone."""

import os
from concurrent.futures import ThreadPoolExecutor

import boto3
from mistralai.client import Mistral

secrets = {"aws_access_key_id": "AKIAEXAMPLE", "aws_secret_access_key": os.environ["OPENAI_API_KEY"]}
client = boto3.client("bedrock-runtime", region_name="eu-west-1", **secrets)


def ask(question: str) -> str:
    answer = client.converse(modelId="m", messages=[{"role": "user", "content": [{"text": question}]}])
    return f"{answer['output']['message']} {answer['usage']}"


for _ in range(3):
    print(ask("Name a colour."))
with ThreadPoolExecutor(4) as threads:
    print(sorted(threads.map(ask, (f"Question {n}" for n in range(4)))))

question = [{"role": "user", "content": "Name a colour."}]
mistral = Mistral(api_key=os.environ["OPENAI_API_KEY"], server_url=os.environ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"])
print(mistral.chat.complete(model="m", messages=question).choices[0].message.content)
for event in mistral.chat.stream(model="m", messages=question):
    print(event.data.choices[0].delta.content if event.data.choices else event.data.usage.total_tokens)
