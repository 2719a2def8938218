"""A bucket of moto, a simulation of S3, for scripts."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVER = ROOT / "target" / "clients" / "moto" / "bin" / "moto_server"
BUCKET = "lab"


@contextmanager
def simulated_bucket() -> Iterator[str | None]:
    """The name of the bucket, with the variables that lead to it; `None` if moto is not installed."""
    if not SERVER.exists():
        yield None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    endpoint = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([SERVER, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        create(f"{endpoint}/{BUCKET}")
        # Polars has to be told that the endpoint is meant, although it has no TLS.
        os.environ.update(AWS_ENDPOINT_URL=endpoint, AWS_ALLOW_HTTP="true", AWS_REGION="us-east-1")
        os.environ.update(AWS_ACCESS_KEY_ID="AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY="example")
        yield BUCKET
    finally:
        server.terminate()
        server.wait()


def create(url: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(urllib.request.Request(url, method="PUT")).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"{url} does not answer")
