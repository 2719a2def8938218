"""The JSON Schemas of files take every file of the repository, and refuse each misspelt key."""

import copy
import json
import pathlib
import random
import subprocess

import jsonschema
import pytest
import yaml
from retold._program import program

ROOT = pathlib.Path(__file__).parents[2]
# Keys below these are whatever the user calls something: a model, a parameter, an option.
NAMED_BY_USERS = {"endpoints", "extra", "malformed_kinds", "opposition_mapping", "default"}


def schema(name):
    said = subprocess.run([program(), "generate", "schema", name], check=True, capture_output=True, text=True)
    found = json.loads(said.stdout)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def files():
    """Each file, and the schema by which it is checked."""
    for file in sorted(ROOT.glob("config/*.yaml")):
        config = yaml.safe_load(file.read_text())
        # Prices and hypotheses have no schema.
        if file.name != "prices.yaml" and not file.name.endswith(".hypotheses.yaml"):
            yield file, config["experiment"], config
    for folder in ["examples", "fixtures", "fuzz/seeds/parser_file", "docs"]:
        for file in sorted((ROOT / folder).rglob("*.y*ml")):
            try:
                found = yaml.safe_load(file.read_text())
            except yaml.YAMLError:
                continue
            if isinstance(found, dict) and "parsers" in found and isinstance(found["parsers"], list):
                yield file, "parsers", found


def keys(value, above=()):
    """The places of all keys that a schema knows."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*above, key)
            if key not in NAMED_BY_USERS:
                yield from keys(inner, (*above, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from keys(inner, (*above, at))


def misspelt(key, dice):
    """A key with one letter more, one less, another one, or two in each other's place."""
    at = dice.randrange(len(key))
    letter = dice.choice("abcdefghijklmnopqrstuvwxyz_")
    ways = [key[:at] + letter + key[at:], key[:at] + key[at + 1 :], key[:at] + letter + key[at + 1 :], key[:at] + key[at:][1::-1] + key[at + 2 :]]
    others = [way for way in ways if way and way != key]
    return dice.choice(others)


FILES = list(files())


@pytest.mark.parametrize("file, name, found", FILES, ids=[str(file.relative_to(ROOT)) for file, _, _ in FILES])
def test_every_file_of_the_repository_has_its_schema(file, name, found):
    schema(name).validate(found)


def test_a_hundred_misspelt_keys_are_refused():
    dice = random.Random(31)
    schemas = {name: schema(name) for name in {name for _, name, _ in FILES}}
    assert {"game24", "deliberation", "public_goods", "society", "adventure", "parsers"} == set(schemas)
    tried = 0
    while tried < 100:
        _, name, found = dice.choice(FILES)
        *above, key = dice.choice(list(keys(found)))
        if not isinstance(key, str):
            continue
        wrong = copy.deepcopy(found)
        holder = wrong
        for step in above:
            holder = holder[step]
        other = misspelt(key, dice)
        # Two keys may differ in a letter, and `from` be misspelt as one that there is.
        if other in holder or other in known(schemas[name].schema):
            continue
        holder[other] = holder.pop(key)
        assert not schemas[name].is_valid(wrong), f"{name}: {'.'.join(map(str, above))} {key} as {other}"
        tried += 1


def known(schema):
    """All keys that a schema has anywhere."""
    if isinstance(schema, dict):
        found = set(schema.get("properties", ()))
        return found.union(*(known(inner) for inner in schema.values()))
    if isinstance(schema, list):
        return set().union(*map(known, schema))
    return set()


def test_a_schema_that_there_is_not_is_named():
    said = subprocess.run([program(), "generate", "schema", "game25"], capture_output=True, text=True)
    assert said.returncode == 2
    assert "game24" in said.stderr and "parsers" in said.stderr
