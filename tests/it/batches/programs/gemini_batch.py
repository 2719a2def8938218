"""Asks five questions by a batch of a file, by one of its own request and live, with Google's SDK, and prints what it found as
JSON."""

import io
import json
import sys

from google import genai
from google.genai import errors, types

client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=sys.argv[1]))


def contents(n):
    return [{"role": "user", "parts": [{"text": f"question {n}"}]}]


def ended(job):
    while job.state in ("JOB_STATE_PENDING", "JOB_STATE_RUNNING"):
        job = client.batches.get(name=job.name)
    return job


def text(response):
    return response["candidates"][0]["content"]["parts"][0]["text"]


lines = "".join(json.dumps({"key": f"q{n}", "request": {"contents": contents(n)}}) + "\n" for n in range(5))
config = types.UploadFileConfig(display_name="named", mime_type="application/jsonl")
file = client.files.upload(file=io.BytesIO(lines.encode()), config=config)
files = [one.display_name for one in client.files.list()]
job = client.batches.create(model="gemini-1", src=file.name, config={"display_name": "one"})
assert job.state == "JOB_STATE_PENDING" and job.display_name == "one", job
job = ended(job)
assert job.state == "JOB_STATE_SUCCEEDED" and job.end_time >= job.create_time, job
answers = [json.loads(line) for line in client.files.download(file=job.dest.file_name).splitlines()]
by_batch = {line["key"]: text(line["response"]) for line in answers}
live = {
    f"q{n}": client.models.generate_content(model="gemini-1", contents=contents(n)).text for n in range(5)
}
# Other questions, so that each is paid for twice.
cancelled = client.batches.create(
    model="gemini-1", src=[{"contents": contents(9)}], config={"display_name": "two"}
)
client.batches.cancel(name=cancelled.name)
assert {one.name for one in client.batches.list(config={"page_size": 1})} == {job.name, cancelled.name}
assert ended(cancelled).state == "JOB_STATE_CANCELLED"
try:
    client.batches.create(model="gemini-1", src=file.name)
except errors.ClientError as error:
    refused = error.code
print(json.dumps({"by_batch": by_batch, "live": live, "files": files, "refused": refused}))
