"""The decisions of a study, compared with a snapshot in `__snapshots__`. After a change that is meant, run
`pytest --snapshot-update`."""

import pytest

from votes import study


@pytest.mark.retold
def test_the_votes(retold, snapshot):
    assert study(retold) == snapshot
