#!/usr/bin/env python3
"""Checks a recording or a proof by the rules of docs/format.md: verify.py FILE [ROOT]. Needs `pip install blake3`;
FILE is not compressed. Of a deposit without texts, verify.py commitments.csv NONCE TEXT says which commitment the text in
the file TEXT opens. Prints what the file shows. Exit code 1, with the reason, if it does not hold."""
import base64, decimal, hashlib, json, sys
from blake3 import blake3

def canonical(value):  # RFC 8785
    if isinstance(value, dict):
        fields = sorted(value.items(), key=lambda field: field[0].encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(canonical(key) + ":" + canonical(item) for key, item in fields) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return number(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)

def number(value):  # as ECMAScript writes it: the digits of repr, and another rule for exponents
    exact = decimal.Decimal(repr(value or 0.0)).normalize()
    sign, digits, exponent = exact.as_tuple()
    if -6 < len(digits) + exponent <= 21:
        return format(exact, "f")
    mantissa = ".".join(filter(None, [str(digits[0]), "".join(map(str, digits[1:]))]))
    return "-" * sign + mantissa + f"e{len(digits) + exponent - 1:+d}"

def check(holds, what):
    if not holds:
        raise ValueError(what)
def unhexed(text):
    check(bytes.fromhex(text).hex() == text, "a hash is not lower-case hex digits")
    return bytes.fromhex(text)
def digest(*parts):
    return blake3(b"".join(parts)).digest()
def event_hash(previous, event):
    return digest(b"retold event v1\n", previous, canonical(event).encode())
def content_hash(content, *more):
    check(content.keys() in ({"text", *more}, {"vector", *more}), "a content has other fields")
    return digest(content["text"].encode() if "text" in content else base64.b64decode(content["vector"])).hex()

def filled(value, texts):  # puts the long texts of a request back in their places
    if isinstance(value, dict):
        return {key: filled(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, texts) for item in value]
    return texts[value[5:]] if isinstance(value, str) and value.startswith("text:") else value

def recording(header, lines):
    texts, requests, leaves, previous = {None: ""}, {None: {}}, [], bytes(32)
    known = header.keys() == {"events", "format", "head", "recording", "run"} and header["format"] == 1
    check(known and header["recording"] == "retold", "its format is not known")
    for at, line in enumerate(lines, 2):
        if "kind" in line:
            stated = line.pop("hash")
            check((line["run"], line["seq"]) == (header["run"], len(leaves) + 1), f"line {at}: another event is due")
            check(line.get("content", line.get("vector")) in texts, f"line {at}: its content is missing")
            check(line.get("prompt") in requests, f"line {at}: its request is missing")
            root = line["kind"] == "RunFinished" and line["body"].get("events_root")
            check(not root or root == tree(leaves), f"line {at}: the events before it have another root")
            previous = event_hash(previous, line)
            check(previous.hex() == stated, f"line {at}: its hash is wrong")
            leaves.append(digest(b"\0", previous))
        elif line.keys() - {"base", "shared"} == {"prompt", "request"}:
            request = requests[line["prompt"]] = filled(line["request"], texts)
            if "base" in line:
                request["body"]["messages"][:0] = requests[line["base"]]["body"]["messages"][: line["shared"]]
            check(digest(canonical(request).encode()).hex() == line["prompt"], f"line {at}: its hash is wrong")
        else:
            check(content_hash(line, "content") == line["content"], f"line {at}: its hash is wrong")
            texts[line["content"]] = line.get("text", "")
    check((header["events"], header["head"]) == (len(leaves), previous.hex()), "it is cut off")
    return f"run {header['run']}: ok, {len(leaves)} events, head {previous.hex()}"

def tree(nodes):  # the root of RFC 6962, from the hashes of the leaves
    while len(nodes) > 1:
        pairs = (nodes[at : at + 2] for at in range(0, len(nodes), 2))
        nodes = [digest(b"\1", *pair) if len(pair) > 1 else pair[0] for pair in pairs]
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
    kinds = {"start": ["RunStarted"], "question": ["RequestSent"], "answer": ["ResponseReceived", "AnswerReused"],
             "decision": ["DecisionMade"], "end": ["RunFinished"]}
    fields = kinds.keys() | {"contents", "format", "others", "prompt", "root", "run"}
    check(it["format"] == "retold proof 1" and it.keys() | {"decision"} == fields, "it is not a proof")
    check(all(it[part]["event"]["kind"] in kinds[part] for part in kinds.keys() & it), "an event is of another kind")
    end, root, chain = it["end"], it["root"], [it[part] for part in [*kinds][:4] if part in it]
    events = [leaf["event"] for leaf in chain + it["others"]]
    check(end.keys() == {"event", "head", "previous"} and end["event"]["run"] == it["run"], "its end is wrong")
    check(event_hash(unhexed(end["previous"]), end["event"]).hex() == end["head"], "the head is wrong")
    check(end["event"]["body"]["events_root"] == root, "another root")
    check(all(content_hash(content) == key for key, content in it["contents"].items()), "a content is wrong")
    for leaf, event in zip(chain + it["others"], events):
        seq, node = event["seq"], digest(b"\0", event_hash(unhexed(leaf["previous"]), event))
        check(leads_to(node, leaf["path"], seq - 1, end["event"]["seq"] - 2) == root, f"seq {seq} is not in the run")
        check(leaf.keys() == {"event", "path", "previous"} and event["run"] == it["run"], f"seq {seq} is wrong")
    used = {event[key] for event in events for key in ("content", "vector") if key in event}
    check(used == it["contents"].keys(), "a content is missing, or is not used")
    seqs, first = [event["seq"] for event in events], len(chain)
    check(len({*seqs}) == len(seqs) and sorted(seqs[first:]) == seqs[first:], "the events are not in order")
    _, question, answer, *decisions = events[:first]
    check(digest(canonical(it["prompt"]).encode()).hex() == question["prompt"], "its prompt is another")
    check(answer["cause"] == question["seq"], "the answer is to another question")
    check(all(decision["cause"] == answer["seq"] for decision in decisions), "the decision is about another answer")
    check(wanted in (None, root), f"it leads to the root {root}")
    return f"run {it['run']}: {question['call']}, seq {answer['seq']}, is in the run with the root {root}"

def opened(rows, nonce, text):  # a commitment is the SHA-256 of a nonce of 16 bytes and the text
    check(len(nonce) == 16, "a nonce is 32 hex digits")
    found = hashlib.sha256(nonce + text).hexdigest()
    run, seq, of, _ = next((row.split(",") for row in rows if row.endswith("," + found)), [""] * 4)
    check(run, "the nonce and the text open none of its commitments")
    return f"run {run}: this text is the {of} of seq {seq}"

name = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)
try:
    if name.endswith(".csv"):
        check(len(sys.argv) == 4, "name the nonce and the file with the text, too")
        rows, nonce, content = open(name, encoding="utf-8").read().split("\n"), *sys.argv[2:]
        print(ascii(opened(rows, unhexed(nonce), open(content, "rb").read()))[1:-1])
        sys.exit()
    text = open(name, encoding="utf-8", newline="").read()
    first, *rest = map(json.loads, filter(str.strip, text.split("\n")))
    check("recording" in first or canonical(first) + "\n" == text, "it is not canonical JSON")
    shown = recording(first, rest) if "recording" in first else proof(first, *(sys.argv[2:] or [None]))
except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
    sys.exit(ascii(f"{name}: {type(error).__name__}: {error}")[1:-1])
print(ascii(shown)[1:-1])  # nothing in a file can control the terminal
