"""Runs scripts/verify.py on each file that is named on a line of standard input, in this process, and prints
what it says: a line each."""
import contextlib, io, runpy, sys

for line in sys.stdin.read().splitlines():
    sys.argv = ["verify.py", *line.split()]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path("scripts/verify.py", run_name="__main__")
        print("ok:", said.getvalue().strip())
    except SystemExit as reason:
        print("no:", str(reason).replace("\n", " "))
