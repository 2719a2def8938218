"""Clusters whose workers were started before the block, and get their tasks by ways of their own: they cannot be caught."""

from __future__ import annotations

import sys

from .._errors import BlockError


def running(offline: bool) -> list[str]:
    """What counts as passed in a recording; a replay is refused."""
    names = [name for name, runs in (("Ray", _ray_runs()), ("Dask", _dask_runs())) if runs]
    if names and offline:
        raise BlockError(
            f"retold: the workers of {names[0]} were started before the block, and a replay cannot see what they ask: start "
            f"{names[0]} inside the block, or shut it down before"
        )
    return [f"workers of {name}" for name in names]


def _ray_runs() -> bool:
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def _dask_runs() -> bool:
    client = sys.modules.get("distributed.client")
    found = client._get_global_client() if client is not None else None
    # Workers that are threads are a part of this process.
    return found is not None and found.status == "running" and not found.scheduler.address.startswith("inproc:")
