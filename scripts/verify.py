#!/usr/bin/env python3
"""Checks a recording or a proof without retold, by the rules of docs/format.md:
scripts/verify.py FILE [ROOT]. Needs `pip install blake3`; FILE is not compressed.
Prints what the file shows. Exit code 1, with the reason, if it does not hold."""
import base64, json, sys
from decimal import Decimal
from blake3 import blake3

def canonical(value):  # RFC 8785
    if isinstance(value, dict):
        fields = sorted(value.items(), key=lambda field: field[0].encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(canonical(key) + ":" + canonical(item) for key, item in fields) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return number(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)

def number(value):  # as ECMAScript writes it: the digits of repr, and another rule for exponents
    decimal = Decimal(repr(value or 0.0)).normalize()
    sign, digits, exponent = decimal.as_tuple()
    if -6 < len(digits) + exponent <= 21:
        return format(decimal, "f")
    mantissa = ".".join(filter(None, [str(digits[0]), "".join(map(str, digits[1:]))]))
    return "-" * sign + mantissa + f"e{len(digits) + exponent - 1:+d}"

def digest(*parts):
    return blake3(b"".join(parts)).digest()

def event_hash(previous, event):
    return digest(b"retold event v1\n", previous, canonical(event).encode())

def content_hash(content):
    return digest(content["text"].encode() if "text" in content else base64.b64decode(content["vector"])).hex()

def unhexed(text):
    check(bytes.fromhex(text).hex() == text, "a hash is not lower-case hex digits")
    return bytes.fromhex(text)

def check(holds, what):
    if not holds:
        raise ValueError(what)

def filled(value, texts):  # puts the long texts of a request back in their places
    if isinstance(value, dict):
        return {key: filled(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, texts) for item in value]
    return texts[value[5:]] if isinstance(value, str) and value.startswith("text:") else value

def recording(header, lines):
    texts, requests, leaves, previous = {None: ""}, {None: {}}, [], bytes(32)
    for at, line in enumerate(lines, 2):
        if "kind" in line:
            stated = line.pop("hash")
            check((line["run"], line["seq"]) == (header["run"], len(leaves) + 1), f"line {at}: another event is due")
            there = line.get("content", line.get("vector")) in texts and line.get("prompt") in requests
            check(there, f"line {at}: its content or its request is missing")
            root = line["kind"] == "RunFinished" and line["body"].get("events_root")
            check(not root or root == tree(leaves), f"line {at}: the events before it have another root")
            previous = event_hash(previous, line)
            check(previous.hex() == stated, f"line {at}: its hash is wrong")
            leaves.append(digest(b"\0", previous))
        elif "request" in line:
            request = requests[line["prompt"]] = filled(line["request"], texts)
            if "base" in line:
                request["body"]["messages"][:0] = requests[line["base"]]["body"]["messages"][: line["shared"]]
            check(digest(canonical(request).encode()).hex() == line["prompt"], f"line {at}: its hash is wrong")
        else:
            check(content_hash(line) == line["content"], f"line {at}: its hash is wrong")
            texts[line["content"]] = line.get("text", "")
    check((header["events"], header["head"]) == (len(leaves), previous.hex()), "it is cut off")
    return f"run {header['run']}: ok, {len(leaves)} events, head {previous.hex()}"

def tree(nodes):  # the root of RFC 6962, from the hashes of the leaves
    while len(nodes) > 1:
        pairs = [digest(b"\1", *nodes[at : at + 2]) for at in range(0, len(nodes) - 1, 2)]
        nodes = pairs + nodes[len(pairs) * 2 :]
    return nodes[0].hex() if nodes else digest().hex()

def leads_to(node, path, place, last):  # the root at the end of a path: RFC 9162, section 2.1.3.2
    for sibling in map(unhexed, path):
        check(last > 0, "a path is too long")
        while place == last and place % 2 == 0:
            place, last = place >> 1, last >> 1
        node = digest(b"\1", sibling, node) if place % 2 else digest(b"\1", node, sibling)
        place, last = place >> 1, last >> 1
    return node.hex() if last == 0 else "nowhere"

def proof(it, wanted):
    fields = {"answer", "contents", "end", "format", "others", "prompt", "question", "root", "run", "start"}
    check(it["format"] == "retold proof 1" and it.keys() - {"decision"} == fields, "it is not a proof")
    end, question, answer, decision = (it.get(part) for part in ("end", "question", "answer", "decision"))
    last, root, seqs, used = end["event"]["seq"] - 2, it["root"], [], set()
    check(event_hash(unhexed(end["previous"]), end["event"]).hex() == end["head"], "the head is wrong")
    check(end["event"]["kind"] == "RunFinished" and end["event"]["body"]["events_root"] == root, "another root")
    check(all(content_hash(content) == key for key, content in it["contents"].items()), "a content is wrong")
    for leaf in filter(None, [it["start"], question, answer, decision, *it["others"]]):
        event, seq = leaf["event"], leaf["event"]["seq"]
        node = digest(b"\0", event_hash(unhexed(leaf["previous"]), event))
        check(leads_to(node, leaf["path"], seq - 1, last) == root, f"seq {seq} is not in the run")
        check(event["run"] == end["event"]["run"] == it["run"] and seq not in seqs, f"seq {seq} is wrong")
        seqs.append(seq)
        used |= {event[key] for key in ("content", "vector") if key in event}
    check(used == it["contents"].keys(), "a content is missing, or is not used")
    check(sorted(seqs[3 + bool(decision) :]) == seqs[3 + bool(decision) :], "the others are not in order")
    question, answer, decision = question["event"], answer["event"], decision and decision["event"]
    check(digest(canonical(it["prompt"]).encode()).hex() == question["prompt"], "its prompt is another")
    check(answer["cause"] == question["seq"], "the answer is to another question")
    check(not decision or decision["cause"] == answer["seq"], "the decision is about another answer")
    check(wanted in (None, root), f"it leads to the root {root}")
    return f"run {it['run']}: {question['call']}, seq {answer['seq']}, is in the run with the root {root}"

name = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)
try:
    text = open(name, encoding="utf-8", newline="").read()
    first, *rest = map(json.loads, text.removesuffix("\n").split("\n"))
    check("recording" in first or canonical(first) + "\n" == text, "it is not canonical JSON")
    print(recording(first, rest) if "recording" in first else proof(first, *(sys.argv[2:] or [None])))
except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
    sys.exit(f"{name}: {type(error).__name__}: {error}")
