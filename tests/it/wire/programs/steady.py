"""Asks COUNT questions, 4 at a time, and writes down each answer that it has received whole."""

import concurrent.futures
import http.client
import json
import os
import threading
import urllib.parse

URL = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
RECEIVED = open(os.environ["RECEIVED"], "a")
LOCK = threading.Lock()


def ask(n: int) -> None:
    connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=60)
    body = {"model": "m", "stream": n % 2 == 0, "messages": [{"role": "user", "content": f"question {n}"}]}
    connection.request("POST", f"{URL.path}/chat/completions", json.dumps(body))
    answer = connection.getresponse()
    received = answer.read()
    assert answer.status == 200, received
    with LOCK:
        RECEIVED.write(json.dumps([n, received.decode()]) + "\n")
        RECEIVED.flush()


try:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(int(os.environ["COUNT"]))))
finally:
    open(os.environ["RECEIVED"] + ".end", "w").close()
