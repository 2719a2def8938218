"""Sends a frame for each argument over a WebSocket, and prints each that comes back until one ends an answer."""

import json
import os
import sys

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

url = os.environ["OPENAI_BASE_URL"].replace("http", "ws", 1) + "/responses"
key = {"Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "none")}
socket = None
for frame in sys.argv[1:]:
    if not frame.startswith("{"):
        frame = json.dumps({"type": "response.create", "model": "m", "input": frame})
    socket = socket or connect(url, additional_headers=key)
    try:
        socket.send(frame.encode() if frame == '{"binary": true}' else frame)
        while True:
            answer = socket.recv(timeout=20)
            print(answer.replace("\n", ""))
            if json.loads(answer)["type"] in ("response.completed", "error"):
                break
    except ConnectionClosed as closed:
        print("closed:", closed.rcvd.reason if closed.rcvd else "broken off")
        socket = None
    sys.stdout.flush()
