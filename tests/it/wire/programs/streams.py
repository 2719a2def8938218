"""Reads COUNT streams, 8 at a time, and prints the digest of each, and how much memory the server in front has taken."""

import concurrent.futures
import hashlib
import http.client
import json
import os
import urllib.parse

URL = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
COUNT = int(os.environ["COUNT"])


def peak() -> int:
    """The most memory that the process which started us has held, in kilobytes."""
    with open(f"/proc/{os.getppid()}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def ask(n: int) -> str:
    connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=60)
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": f"stream {n}"}]}
    connection.request("POST", f"{URL.path}/chat/completions", json.dumps(body))
    answer = connection.getresponse().read()
    connection.close()
    return hashlib.sha256(answer).hexdigest()


with concurrent.futures.ThreadPoolExecutor(8) as pool:
    tenth = COUNT // 10
    digests = list(pool.map(ask, range(tenth)))
    early = peak()
    digests += pool.map(ask, range(tenth, COUNT))
    print("\n".join(digests))
    print(f"{early} {peak()}")
