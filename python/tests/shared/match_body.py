"""A plugin for pytest that makes vcrpy and cassetter compare the bodies of requests, too."""

import pytest


@pytest.fixture(scope="module")
def vcr_config():
    return {"match_on": ["method", "uri", "body"]}
