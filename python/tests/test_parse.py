"""The parsers of the five studies, in this process."""

from __future__ import annotations

import pytest

import retold


def test_votes():
    first, second = retold.parse("vote@1", ["I choose B.", "Nothing of it"], options=["A", "B"])
    assert first.value == "B" and first.method
    assert second.value != "B"


def test_unknown_parsers_and_settings():
    with pytest.raises(ValueError, match="no parser"):
        retold.parse("nosuch", ["x"])
    with pytest.raises(ValueError, match="no version"):
        retold.parse("vote@99", ["x"])
    with pytest.raises(ValueError, match="settings"):
        retold.parse("vote@1", ["x"], options=3)
    with pytest.raises(TypeError, match="a list of texts"):
        retold.parse("vote@1", "I choose B.", options=["A", "B"])
    assert retold.parse("game24@2", [], numbers=[4, 5, 6, 10]) == []
