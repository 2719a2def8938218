"""`python -m upstream [PORT]`, run in tests: prints its base URL as a line, and answers until it is stopped."""

import sys

from .server import Upstream

upstream = Upstream(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
print(upstream.url, flush=True)
upstream.serve_forever()
