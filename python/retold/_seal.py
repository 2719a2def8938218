"""Seals a process and all that it starts: connections of TCP reach no port but those of servers that are started meanwhile.

Landlock (Linux 6.7 and later) tells ports apart, not hosts; it does not know UDP, and a socket that was connected stays connected.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from ._errors import RetoldError

#: https://docs.kernel.org/userspace-api/landlock.html; the numbers of the calls are the same on all processors.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION_ONLY, _CONNECT_TCP, _PORT_RULE = 1, 1 << 1, 2
_FIRST_WITH_PORTS = 4
_NO_NEW_PRIVILEGES = 38


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("net", ctypes.c_uint64)]


class _Port(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("access", ctypes.c_uint64), ("port", ctypes.c_uint64)]


def seal(ports: Iterable[int] = ()) -> None:
    """Seals this process for good. The ports that the system gives to servers of tests stay reachable, and the named ones."""
    if not sys.platform.startswith("linux"):
        raise RetoldError(f"--retold-sealed needs Linux: {sys.platform} has nothing that seals a process")
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION_ONLY)
    if version < _FIRST_WITH_PORTS:
        raise RetoldError(
            "--retold-sealed needs Landlock with rules for ports (Linux 6.7 or later, with landlock among the modules that "
            "/sys/kernel/security/lsm lists), and this system has none"
        )
    ruleset = _Ruleset(0, _CONNECT_TCP)
    handle = _done(libc.syscall(_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(ctypes.sizeof(ruleset)), 0))
    try:
        for port in {*_given_by_the_system(), *ports}:
            rule = _Port(_CONNECT_TCP, port)
            _done(libc.syscall(_ADD, handle, _PORT_RULE, ctypes.byref(rule), 0))
        _done(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _done(libc.syscall(_RESTRICT, handle, 0))
    finally:
        os.close(handle)


def _given_by_the_system() -> range:
    first, last = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    return range(int(first), int(last) + 1)


def _done(result: int) -> int:
    if result < 0:
        raise RetoldError(f"this process cannot be sealed: {os.strerror(ctypes.get_errno())}")
    return result
