"""Asks five questions by a batch and live, with Anthropic's SDK, and prints what it found as JSON."""

import json
import sys

from anthropic import Anthropic, APIStatusError

client = Anthropic(base_url=sys.argv[1], api_key="sk-test", max_retries=0)
batches = client.messages.batches


def params(n):
    return {"model": "claude-1", "max_tokens": 9, "messages": [{"role": "user", "content": f"question {n}"}]}


def create(numbers):
    return batches.create(requests=[{"custom_id": f"q{n}", "params": params(n)} for n in numbers])


def ended(batch):
    while batch.processing_status != "ended":
        batch = batches.retrieve(batch.id)
    return batch


batch = create(range(5))
assert batch.request_counts.processing == 5 and batch.results_url is None, batch
batch = ended(batch)
assert batch.request_counts.succeeded == 5 and batch.ended_at > batch.created_at, batch
results = {one.custom_id: one.result for one in batches.results(batch.id)}
assert all(result.type == "succeeded" for result in results.values())
by_batch = {id: result.message.content[0].text for id, result in results.items()}
live = {f"q{n}": client.messages.create(**params(n)).content[0].text for n in range(5)}
other = batches.cancel(create([9]).id)
assert {one.id for one in batches.list(limit=1)} == {batch.id, other.id}
try:
    batches.create(requests=[{"custom_id": "a b", "params": params(0)}])
except APIStatusError as error:
    refused = error.status_code
cancelled = ended(other).processing_status
assert [one.result.type for one in batches.results(other.id)] == ["canceled"]
print(json.dumps({"by_batch": by_batch, "live": live, "refused": refused, "cancelled": cancelled}))
