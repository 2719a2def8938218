"""Servers whose certificate is of an authority that a variable names, as HTTP libraries know it."""

from __future__ import annotations

import shutil
import ssl
import subprocess

import asking
import httpx
import openai
import pytest
import requests

import retold


@pytest.fixture
def authority(tmp_path) -> str:
    """An authority that no system trusts, and beside it a certificate of this machine."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates")

    def make(words: str) -> None:
        subprocess.run(["openssl", *words.split()], check=True, capture_output=True, cwd=tmp_path)

    make("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=tests -keyout authority.key -out authority.pem")
    make("req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out request.pem")
    (tmp_path / "names").write_text("subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
    make("x509 -req -in request.pem -CA authority.pem -CAkey authority.key -CAcreateserial -days 1 -extfile names -out server.pem")
    return str(tmp_path / "authority.pem")


@pytest.fixture
def secure(model, authority, tmp_path) -> str:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem", tmp_path / "key.pem")
    model.socket = context.wrap_socket(model.socket, server_side=True)
    return f"{model.url.replace('http://127.0.0.1', 'https://localhost')}/v1"


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"])
def test_the_authority_of_a_variable_is_trusted(secure, authority, log, monkeypatch, variable):
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, authority)
    url = f"{secure}/chat/completions"
    with retold.record(log) as run:
        assert requests.post(url, json=asking.BODY).status_code == 200
        assert httpx.post(url, json=asking.BODY).status_code == 200
    assert run.summary["recorded"] == 2


def test_another_authority_is_not(secure, log, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere.pem")
    client = openai.OpenAI(base_url=secure, api_key="x", max_retries=0)
    with retold.record(log) as run, pytest.raises(openai.InternalServerError, match="certificate"):
        client.chat.completions.create(**asking.BODY)
    assert run.summary["recorded"] == 0
