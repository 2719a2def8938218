"""An agent with nothing but the standard library, which says which tools it calls, and what they gave."""

import json
import os
import sys
import urllib.error
import urllib.request

BASE, RETOLD = os.environ["OPENAI_BASE_URL"], os.environ["RETOLD_URL"]
# Without labels, each call stands by itself.
LABELS = {} if "UNLABELLED" in os.environ else {"x-retold-labels": '{"participant":"p_1"}'}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def post(url, body, **headers):
    data = json.dumps(body).encode()
    headers["content-type"] = "application/json"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as response:
            return response.status, json.load(response), response.headers
    except urllib.error.HTTPError as error:
        return error.code, json.load(error), error.headers


def call(name, arguments, id):
    """What a tool gives, or gave when this was recorded."""
    named = {"x-retold-call": "weather/p_1", **LABELS}
    status, reply, _ = post(RETOLD + "/_retold/tools", {"tool": name, "arguments": arguments, "id": id}, **named)
    if status != 202:
        return reply
    print(f"ran {name}", file=sys.stderr)
    outcome = {"result": {**arguments, "sky": os.environ.get("SKY", "<b>snow</b>\x1b[2J")}}
    if arguments["city"] == "Nowhere":
        outcome = {"error": {"type": "NoCity", "message": "there is no such city"}}
    return post(f"{RETOLD}/_retold/tools/{reply['run']}", outcome)[1]


messages = [{"role": "user", "content": "What is the weather like?"}]
for turn in range(2):
    named = {"x-retold-call": f"turn/{turn}/p_1", **LABELS}
    _, answer, headers = post(BASE + "/chat/completions", {"model": "m", "messages": messages, "tools": [TOOL]}, **named)
    message = answer["choices"][0]["message"]
    messages.append(message)
    given = []
    for one in message.get("tool_calls", []):
        asked = one["function"]
        given.append(call(asked["name"], json.loads(asked["arguments"]), one["id"]))
        messages.append({"role": "tool", "tool_call_id": one["id"], "content": json.dumps(given[-1])})
_, decided, _ = post(RETOLD + "/_retold/decisions", {
    "name": "sky", "value": message["content"], "response": headers["x-retold-response"]})
told = {"name": "told", "value": len(messages), "response": [decided["id"], "call_oslo"]}
assert post(RETOLD + "/_retold/facts", told)[0] == 200
print(message["content"])
