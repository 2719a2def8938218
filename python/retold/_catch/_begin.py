"""Begins each Python process of `retold record` as its `sitecustomize`: waits for frameworks whose tools are recorded.

Nothing is imported until one of them is. Without the package `retold` beside it, its tools run as ever.
"""

import os
import sys

_folder = os.path.dirname(__file__)


class _Frameworks:
    @staticmethod
    def find_spec(name, path=None, target=None):  # type: ignore[no-untyped-def]
        if name in ("agents", "langchain_core", "mcp", "pydantic_ai"):
            sys.meta_path.remove(_Frameworks)
            try:
                from retold._catch import install_tools
            except ImportError:
                return None
            install_tools()
        return None


if os.environ.get("RETOLD_URL"):
    sys.meta_path.insert(0, _Frameworks)
sys.path[:] = [place for place in sys.path if place != _folder]
del sys.modules["sitecustomize"]
try:
    import sitecustomize  # type: ignore[import-not-found]
except ImportError as missing:
    if missing.name != "sitecustomize":
        raise
    # Python takes the module that it finds here.
    sys.modules["sitecustomize"] = sys
