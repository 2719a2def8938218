"""Asks five questions by a batch and live, with OpenAI's SDK, and prints what it found as JSON."""

import json
import sys

from openai import APIStatusError, OpenAI

client = OpenAI(base_url=sys.argv[1] + "/v1", api_key="sk-test", max_retries=0)


def body(n):
    return {"model": "gpt-1", "messages": [{"role": "user", "content": f"question {n}"}]}


def create(numbers):
    lines = [
        {"custom_id": f"q{n}", "method": "POST", "url": "/v1/chat/completions", "body": body(n)} for n in numbers
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    file = client.files.create(file=("named.jsonl", text.encode()), purpose="batch")
    return client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"run": "one"}
    )


def ended(batch):
    while batch.status not in ("completed", "failed", "expired", "cancelled"):
        batch = client.batches.retrieve(batch.id)
    return batch


batch = create(range(5))
assert batch.status == "validating" and batch.metadata == {"run": "one"}, batch
files = [file.filename for file in client.files.list(purpose="batch", limit=100)]
batch = ended(batch)
assert batch.request_counts.completed == 5 and batch.error_file_id is None, batch
lines = [json.loads(line) for line in client.files.content(batch.output_file_id).text.splitlines()]
text = lambda reply: reply["choices"][0]["message"]["content"]
by_batch = {line["custom_id"]: text(line["response"]["body"]) for line in lines}
live = {f"q{n}": text(client.chat.completions.create(**body(n)).to_dict()) for n in range(5)}
other = client.batches.cancel(create([9]).id)
assert {one.id for one in client.batches.list(limit=1)} == {batch.id, other.id}
try:
    client.batches.create(input_file_id="x", endpoint="/v1/chat/completions", completion_window="1h")
except APIStatusError as error:
    refused = error.status_code
print(
    json.dumps(
        {"by_batch": by_batch, "live": live, "files": files, "refused": refused, "cancelled": ended(other).status}
    )
)
