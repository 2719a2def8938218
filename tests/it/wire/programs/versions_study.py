"""SDKs for Python that disagree on whether a base URL ends with /v1."""

import anthropic
import ollama
import openai
import together
from google import genai

messages = [{"role": "user", "content": "Name a colour."}]
for client in (openai.OpenAI(max_retries=5), together.Together(max_retries=5)):
    for _ in range(2):
        print(client.chat.completions.create(model="m", messages=messages).choices[0].message.content)
claude = anthropic.Anthropic(max_retries=5)
for _ in range(2):
    print(claude.messages.create(model="m", max_tokens=9, messages=messages).content[0].text)
gemini = genai.Client()
print(gemini.models.generate_content(model="m", contents="Name a colour.").text)
print(ollama.chat(model="m", messages=messages).message.content)
