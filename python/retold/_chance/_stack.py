"""Where in the program a request is made: in a replay, each request says so, because the first difference is told with it.

The requests are those that reach the command around the program; `retold` counts in the same places what tools ask.
"""

from __future__ import annotations

import functools
import os
import sys
from types import CodeType, FrameType, ModuleType
from typing import Any, Callable, Dict, List, Optional, Tuple
from urllib.parse import urlsplit

HEADER = "X-Retold-Stack"

#: Puts a value in the place of an attribute.
Put = Callable[[Any, str, Any], None]
#: Called for each request; what it says is added to the headers.
Tell = Callable[[], Optional[Tuple[str, str]]]

#: How many places are told, and how many characters of them.
_MOST, _LONGEST = 4, 400

#: Where the code is that the program does not have written.
_FOREIGN = (os.path.dirname(os.__file__), "<")
_SITES = ("site-packages", "dist-packages")

#: Code is of Python or of retold, of a library that is installed, or the program's own.
_NOBODYS, _INSTALLED, _OWN = range(3)
_known: Dict[CodeType, int] = {}


def told() -> Tuple[str, str]:
    """The header of a request."""
    return HEADER, stack()


def stack() -> str:
    """The places in the program's own code that are under way, the innermost first, in ASCII."""
    own: List[str] = []
    installed: List[str] = []
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None and len(own) < _MOST:
        code = frame.f_code
        whose = _known.get(code)
        if whose is None:
            whose = _known[code] = _whose(code.co_filename, frame.f_globals.get("__package__"))
        if whose != _NOBODYS:
            place = f"{os.path.basename(code.co_filename)}:{frame.f_lineno} in {code.co_name}"
            (own if whose == _OWN else installed).append(place)
        frame = frame.f_back
    # A thread that a library has started has nothing of the program in it: what began it says most.
    told = " < ".join(own or installed[-_MOST:]) or "no place of the program"
    return told[:_LONGEST].encode("ascii", "backslashreplace").decode()


def _whose(file: str, package: Any) -> int:
    """Whose code is in a file of a package."""
    if str(package).partition(".")[0] in ("retold", "_retold_chance"):
        return _NOBODYS
    if any(it in file for it in _SITES):
        return _INSTALLED
    return _NOBODYS if file.startswith(_FOREIGN) else _OWN


def is_ours(host: Any, port: Any) -> bool:
    """Whether a server is retold."""
    parts = urlsplit(os.environ.get("RETOLD_URL", ""))
    host = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    return parts.port is not None and (host, port) == (parts.hostname, parts.port)


def patch_http_client(client: ModuleType, put: Put, tell: Tell) -> None:
    """Patches the connections of `http.client`, which requests and urllib3 use."""
    end = client.HTTPConnection.endheaders

    @functools.wraps(end)
    def endheaders(self: Any, *args: Any, **kwargs: Any) -> Any:
        header = tell() if is_ours(self.host, self.port) else None
        if header is not None:
            self.putheader(*header)
        return end(self, *args, **kwargs)

    put(client.HTTPConnection, "endheaders", endheaders)


def patch_httpcore(httpcore: ModuleType, put: Put, tell: Tell) -> None:
    """Patches the requests of httpcore, which httpx makes."""
    begin = httpcore.Request.__init__

    @functools.wraps(begin)
    def begin_told(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        header = tell() if is_ours(self.url.host, self.url.port) else None
        if header is not None:
            name, value = header
            self.headers = [*self.headers, (name.encode(), value.encode())]

    put(httpcore.Request, "__init__", begin_told)


def patch_aiohttp(aiohttp: ModuleType, put: Put, tell: Tell) -> None:
    """Patches the requests of aiohttp."""
    begin = aiohttp.ClientRequest.__init__

    @functools.wraps(begin)
    def begin_told(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        header = tell() if is_ours(self.url.host, self.url.port) else None
        if header is not None:
            name, value = header
            self.headers[name] = value

    if "__init__" in vars(aiohttp.ClientRequest):
        put(aiohttp.ClientRequest, "__init__", begin_told)


def patches(put: Put, tell: Tell) -> Dict[str, Callable[[ModuleType], None]]:
    """What is patched, by the modules whose import is waited for."""
    all_patches = {
        "http.client": patch_http_client,
        "httpcore": patch_httpcore,
        "httpcore2": patch_httpcore,
        "aiohttp.client": patch_aiohttp,
    }
    return {name: functools.partial(patch, put=put, tell=tell) for name, patch in all_patches.items()}
