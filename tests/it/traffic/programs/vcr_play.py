"""Plays a cassette with vcrpy itself: prints what requests gets for each of its requests.

usage: vcr_play.py CASSETTE
"""

import sys

import requests
import vcr
from vcr.serialize import deserialize
from vcr.serializers import jsonserializer, yamlserializer

path = sys.argv[1]
serializer, name = (jsonserializer, "json") if path.endswith(".json") else (yamlserializer, "yaml")
with open(path, encoding="utf-8") as file:
    recorded, _ = deserialize(file.read(), serializer)
match = ["method", "scheme", "host", "port", "path", "query", "body"]
with vcr.use_cassette(path, record_mode="none", serializer=name, match_on=match) as cassette:
    for request in recorded:
        answer = requests.request(
            request.method, request.uri, data=request.body, headers=dict(request.headers), allow_redirects=False
        )
        print(answer.status_code, answer.headers.get("content-type"), answer.content)
    assert cassette.all_played
