"""Clients whose own way to a server is another than that of the child process are refused with a word."""

from __future__ import annotations

import ssl
from typing import Any
from urllib.parse import urlsplit

from .._errors import BlockError
from .._hosts import USUAL_PORTS
from .._session import Session


def check_context(context: Any, host: str) -> None:
    """Refuses a client that does not check certificates: retold would, and the client gets other answers without it."""
    if isinstance(context, ssl.SSLContext) and context.verify_mode == ssl.CERT_NONE or context is False:
        raise BlockError(
            f"retold: the client that asks {host} does not check its certificate (verify=False), and retold does: name "
            "the authority of the server in SSL_CERT_FILE, or take the host out with exclude="
        )


def check_certificate(certificate: Any, host: str) -> None:
    """Refuses a client with a certificate of its own, which retold does not have."""
    if certificate is not None:
        raise BlockError(
            f"retold: the client that asks {host} has a certificate of its own, and retold cannot show it: take the host "
            "out with exclude="
        )


def check_proxy(session: Session, proxy: Any, host: str) -> None:
    """Refuses a client with a proxy of its own in a recording: retold knows those of the environment."""
    if proxy is None or session.offline:
        return
    # Not imported for those who have none.
    from urllib.request import getproxies

    if isinstance(getattr(proxy, "host", None), bytes):
        # As httpcore has URLs.
        proxy = f"{proxy.scheme.decode()}://{proxy.host.decode()}" + (f":{proxy.port}" if proxy.port else "")
    if _server(str(proxy)) not in map(_server, getproxies().values()):
        raise BlockError(
            f"retold: the client that asks {host} has a proxy of its own, and retold does not know it: name it in HTTPS_PROXY, or "
            "take the host out with exclude="
        )


def _server(url: str) -> tuple[str | None, int | None]:
    parts = urlsplit(url if "://" in url else f"http://{url}")
    return parts.hostname, parts.port or USUAL_PORTS.get(parts.scheme)
