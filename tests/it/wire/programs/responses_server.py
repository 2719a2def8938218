"""A server of OpenAI's Responses API over WebSockets: `responses_server.py KEY`. It prints its port."""

import asyncio
import json
import sys

from websockets.asyncio.server import serve

KEY = sys.argv[1]
asked = {}


def handshake(connection, request):
    if request.path.split("?")[0] != "/v1/responses":
        return connection.respond(404, '{"error": {"message": "no such path"}}')
    if request.headers.get("Authorization") != f"Bearer {KEY}":
        said = {"message": "Incorrect API key provided: " + request.headers.get("Authorization", "none")}
        answer = connection.respond(401, json.dumps({"error": said | {"type": "invalid_request_error"}}))
        del answer.headers["Content-Type"]
        answer.headers["Content-Type"] = "application/json"
        return answer
    return None


def words(frame):
    last = frame["input"] if isinstance(frame["input"], str) else frame["input"][-1]["content"]
    return last if isinstance(last, str) else last[0]["text"]


async def answer(socket):
    async for message in socket:
        frame = json.loads(message)
        said = words(frame)
        times = asked[message] = asked.get(message, 0) + 1
        name = f"resp_{sum(asked.values())}"
        base = {"id": name, "object": "response", "created_at": 1, "model": "m-1", "parallel_tool_calls": True,
                "tool_choice": "auto", "tools": []}
        sequence = iter(range(100))

        async def send(kind, **fields):
            # A line's end between tokens, which a frame may have.
            event = {"type": kind, "sequence_number": next(sequence), **fields}
            await socket.send(json.dumps(event).replace(", ", ",\n ", 1))

        if said == "error":
            error = {"type": "invalid_request_error", "code": "previous_response_not_found", "message": "no such response"}
            await socket.send(json.dumps({"type": "error", "status": 400, "error": error}))
            continue
        await send("response.created", response=base | {"status": "in_progress", "output": []})
        text = f"Answer {times} to {said}: \u00e4\u20ac"
        item = {"id": f"msg_{name}", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        await send("response.output_item.added", output_index=0, item=item)
        for letters in [text[at:at + 4] for at in range(0, len(text), 4)]:
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0, "logprobs": []}
            await send("response.output_text.delta", delta=letters, **place)
            if said == "break":
                return socket.transport.abort()
            if said == "slow" and times == 1:
                await asyncio.sleep(600)
        part = {"type": "output_text", "text": text, "annotations": []}
        item |= {"status": "completed", "content": [part]}
        await send("response.output_item.done", output_index=0, item=item)
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        usage = {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8, **details}
        await send("response.completed", response=base | {"status": "completed", "output": [item], "usage": usage})
        if said == "leave":
            return


async def main():
    async with serve(answer, "127.0.0.1", 0, process_request=handshake) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()


asyncio.run(main())
