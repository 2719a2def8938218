"""A study with nothing but the standard library, which says what it made of each answer."""

import json
import os
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor

BASE, RETOLD = os.environ["OPENAI_BASE_URL"], os.environ["RETOLD_URL"]


def post(url, body, **headers):
    data = json.dumps(body).encode()
    headers["content-type"] = "application/json"
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as response:
        return json.load(response), response.headers


def play(player):
    """Each player is a lane: their order among each other is nobody's."""
    scores = []
    for turn in range(3):
        question = {"model": "m", "messages": [{"role": "user", "content": f"player {player}, turn {turn}"}]}
        answer, headers = post(BASE + "/chat/completions", question, **{"x-retold-call": f"player/{player}/{turn}"})
        text = answer["choices"][0]["message"]["content"]
        decision, _ = post(RETOLD + "/_retold/decisions", {
            "name": "length", "value": len(text) + (player == 1) * int(os.environ.get("CHANGED", "0")),
            "method": "len", "response": headers["x-retold-response"], "warnings": ["only a length"]})
        scores.append(len(text))
        post(RETOLD + "/_retold/facts", {
            "name": "scored", "value": {"player": player, "sum": sum(scores)}, "lane": f"player {player}",
            "response": decision["id"] or f"player/{player}/{turn}"})


with ThreadPoolExecutor(int(os.environ.get("PARALLEL", "4"))) as pool:
    list(pool.map(play, sorted(range(4), reverse="REVERSED" in os.environ)))
if "ONE_MORE" in os.environ:
    post(RETOLD + "/_retold/facts", {"name": "one more", "value": None})
print("done", file=sys.stderr)
