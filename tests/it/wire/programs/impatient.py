"""Asks equal questions with a timeout, and goes on when it is over; ends with 1 if one was."""

import sys

import openai

client = openai.OpenAI(max_retries=0, timeout=float(sys.argv[2]))
messages = [{"role": "user", "content": "Draw a number."}]
timeouts = 0
for _ in range(int(sys.argv[1])):
    wanted = "answer"
    try:
        if "stream" in sys.argv:
            stream = client.chat.completions.create(model="m", messages=messages, stream=True)
            wanted = "more"
            for chunk in stream:
                print(chunk.choices[0].delta.content, end=" ", flush=True)
            print()
        else:
            print(client.chat.completions.create(model="m", messages=messages).choices[0].message.content)
    except openai.APITimeoutError:
        timeouts += 1
        print(f"no {wanted} in time")
sys.exit(1 if timeouts and "fail" in sys.argv else 0)
