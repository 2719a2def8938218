"""The decisions of a study, compared with a snapshot in this file. After a change that is meant, run
`pytest --inline-snapshot=fix`."""

import pytest
from inline_snapshot import snapshot

from votes import study


@pytest.mark.retold
def test_the_votes(retold):
    assert study(retold) == snapshot({"Ada": "yes", "Ben": "no", "Cleo": "yes"})
