"""Sends the requests of a file to the server that a variable names, and reads the answers as bytes."""

import http.client
import json
import os
import sys
import urllib.parse

url = urllib.parse.urlsplit(os.environ[sys.argv[1]])
connection = http.client.HTTPConnection(url.netloc, timeout=60)
with open(sys.argv[2]) as lines:
    for path, body in map(json.loads, lines):
        connection.request("POST", url.path + path, json.dumps(body), {"content-type": "application/json"})
        try:
            connection.getresponse().read()
        except http.client.IncompleteRead:
            connection.close()
