"""A study that draws: `chance_study.py tasks`, `threads` or `processes`. It names no seed, and asks at its own pace."""

import asyncio
import concurrent.futures
import itertools
import json
import multiprocessing
import os
import random
import signal
import sys
import time
import urllib.request
import uuid

import numpy

NAMES = ["Ada", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal"]
AGENTS, TURNS = 6, 3
counted = itertools.count(1)


def prompt(agent, turn, before):
    """A question with draws of all kinds in it."""
    own = random.Random()
    drawn = [
        random.choice(NAMES),
        int(numpy.random.randint(10**6)),
        round(own.gauss(0, 1), 6),
        round(float(numpy.random.default_rng().random()), 6),
        *({"pears", "figs", "plums", "limes"} if os.environ.get("SETS") else ()),
    ]
    return f"Agent {agent}, turn {turn}: {drawn} {before}"


def ask(text):
    """Asks with nothing but the standard library."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def die_here():
    """Ends the program as if it was killed, with its processes, at the request that is named."""
    if next(counted) == int(os.environ.get("DIE_AT", "0")):
        for child in multiprocessing.active_children():
            child.kill()
        os.kill(os.getpid(), signal.SIGKILL)


def agent_in_thread(agent):
    said = ""
    for turn in range(TURNS):
        time.sleep(random.random() / 100)
        die_here()
        said = ask(prompt(agent, turn, said))
    return said


def agent_in_process(agent):
    said = ""
    for turn in range(TURNS):
        said = ask(prompt(agent, turn, said))
    return said


async def agent_in_task(client, agent):
    said = ""
    for turn in range(TURNS):
        await asyncio.sleep(random.random() / 100)
        die_here()
        message = {"role": "user", "content": prompt(agent, turn, said)}
        answer = await client.chat.completions.create(model="m", messages=[message])
        said = answer.choices[0].message.content
    return said


async def tasks():
    from openai import AsyncOpenAI

    client = AsyncOpenAI(max_retries=5)
    return await asyncio.gather(*(agent_in_task(client, agent) for agent in range(AGENTS)))


def threads():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(agent_in_thread, range(AGENTS)))


def processes():
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        said = []
        for answer in [pool.submit(agent_in_process, agent) for agent in range(AGENTS)]:
            die_here()
            said.append(answer.result())
        return said


if __name__ == "__main__":
    scene = {"tasks": lambda: asyncio.run(tasks()), "threads": threads, "processes": processes}[sys.argv[1]]
    print(*scene(), random.random(), sep="\n")
    if os.environ.get("UUIDS"):
        print(ask(f"Who is {uuid.uuid4()}?"))
