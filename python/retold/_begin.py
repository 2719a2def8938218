"""Begins each Python process of `retold record` as its `sitecustomize`, and makes way for another one.

It takes the draws of the process from the run, if that was asked for, and waits for frameworks whose tools are recorded: nothing
else is imported until one of them is, and without the package `retold` beside it, its tools run as ever.
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
                try:
                    open(os.path.join(_folder, name + ".unreached"), "w").close()
                except OSError:
                    pass
                return None
            install_tools()
        return None


try:
    if sys.version_info >= (3, 8) and os.path.isdir(os.path.join(_folder, "_retold_chance")):
        import _retold_chance  # type: ignore[import-not-found]

        _retold_chance.start(_folder)
    # In Python 2, what is there has another method, and each import would fail.
    if sys.version_info >= (3, 8) and os.environ.get("RETOLD_URL"):
        sys.meta_path.insert(0, _Frameworks)
finally:
    sys.path[:] = [place for place in sys.path if place != _folder]
    # Python 2 empties a module that nobody has.
    _own = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # type: ignore[import-not-found]
except ImportError as missing:
    if getattr(missing, "name", "sitecustomize") != "sitecustomize":
        raise
    # Python takes the module that it finds here.
    sys.modules["sitecustomize"] = sys
