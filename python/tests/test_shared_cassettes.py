"""Twenty tests over cassettes that others recorded: all are replayed, and one whose prompt changes fails alone.

The cassettes are in ../shared/data, which is not part of this repository.
"""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASSETTES = ROOT.parent / "shared" / "data" / "cassettes"
SUITE = Path(__file__).parent / "shared"

pytestmark = pytest.mark.skipif(not CASSETTES.exists(), reason="../shared/data is not here: its cassettes are others' work")


def failures(folder, **change):
    """The messages of the tests that fail, by name, after a change."""
    report = folder / "report.xml"
    env = {**os.environ, "PYTHONPATH": str(SUITE), "RETOLD_CASSETTES": str(CASSETTES), **change}
    options = ["-q", "-p", "no:cacheprovider", "-p", "changes", "-o", "retold_vcr=true", f"--junitxml={report}"]
    subprocess.run([sys.executable, "-m", "pytest", *options, str(SUITE / "suite.py")], env=env, cwd=ROOT, capture_output=True)
    cases = list(ElementTree.parse(report).iter("testcase"))
    assert len({case.get("name") for case in cases}) == 20
    return {
        case.get("name"): "".join(child.text or "" for child in case)
        for case in cases
        if any(child.tag in ("failure", "error") for child in case)
    }


def test_all_are_replayed(tmp_path):
    assert failures(tmp_path) == {}


@pytest.mark.parametrize(
    ("test", "recorded", "asked"),
    [
        ("test_responses_with_request_params", "What is the capital of France?", "What is the capital of France? Be brief."),
        ("test_claude_says_hello", "Say hello there!", "Say hello there! Be brief."),
    ],
)
def test_a_prompt_that_changed_fails_its_test_alone_with_the_difference(tmp_path, test, recorded, asked):
    failed = failures(tmp_path, CHANGE="prompt", CHANGED=test)
    assert list(failed) == [test]
    assert "first difference at" in failed[test] and recorded in failed[test] and asked in failed[test]
