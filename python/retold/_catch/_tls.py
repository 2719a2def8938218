"""Clients whose own way to a server is another than that of the child process are refused with a word."""

from __future__ import annotations

import ssl
from typing import Any

from .._errors import BlockError


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
