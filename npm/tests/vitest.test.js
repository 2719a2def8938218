import assert from "node:assert/strict";
import { cpSync, existsSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { model } from "./model.js";
import { asking, Project } from "./project.js";

const SUITE = "capital.test.ts";

let recording;

/** A project that has its cassettes, and whose model does not answer any more. */
async function recorded() {
  recording ??= record();
  const { asked, cassettes } = await recording;
  const project = new Project();
  cpSync(cassettes, project.path("__cassettes__"), { recursive: true });
  return { project, asked };
}

async function record() {
  const project = new Project();
  const upstream = await model();
  const { code, said } = await project.vitest([], asking(upstream));
  upstream.close();
  assert.equal(code, 0, said);
  return { asked: upstream.asked, cassettes: project.path("__cassettes__") };
}

test("a suite is recorded, and replayed without a key or a network", async () => {
  const { project, asked } = await recorded();
  assert.equal(asked.length, 5);
  const cassette = project.cassette(SUITE);
  assert.match(cassette, /^retold: "cassette 2"$/m);
  assert.doesNotMatch(cassette, /sk-real/);
  assert.equal(project.cassette("sum.test.ts"), undefined);
  for (const pool of ["forks", "threads"]) {
    const { code, said } = await project.vitest(["--pool", pool], {});
    assert.equal(code, 0, said);
    assert.match(said, /5 passed/);
  }
  assert.equal(project.cassette(SUITE), cassette);
});

test("a changed prompt fails, with the difference, also if the program swallows the error", async () => {
  const { project } = await recorded();
  project.replace(SUITE, 'capital("France")).toContain("France")', 'capital("Italy").catch(() => "")).toBe("")');
  const { code, said } = await project.vitest([], {});
  assert.equal(code, 1, said);
  assert.match(said, /capital of France\?/);
  assert.match(said, /capital of Italy\?/);
  assert.match(said, /FAIL +capital\.test\.ts/);
  assert.match(said, /Test Files +1 failed \| 1 passed/);
});

test("an answer that is not asked for fails, but not if a test was left out", async () => {
  const { project } = await recorded();
  assert.equal((await project.vitest(["-t", "a capital"], {})).code, 0);
  project.replace(SUITE, 'await capital("France")', '"France"');
  const { code, said } = await project.vitest([], {});
  assert.equal(code, 1, said);
  assert.match(said, /Tests +5 passed/);
  assert.match(said, /Error: retold: 1 recorded request was never asked/);
});

test("what there is to do without a cassette is said", async () => {
  const project = new Project();
  const { code, said } = await project.vitest([], {});
  assert.equal(code, 1, said);
  assert.match(
    said,
    /there is no cassette __cassettes__\/capital\.test\.ts\.yaml: record it with `RETOLD=record npx vitest run capital\.test\.ts`/,
  );
  assert.match(said, /Test Files +1 failed \| 1 passed/);
  assert.equal(project.cassette(SUITE), undefined);
  const wrong = await project.vitest([], { RETOLD: "all" });
  assert.equal(wrong.code, 1);
  assert.match(wrong.said, /RETOLD is "all": set it to "record", or unset it to replay/);
});

test("a cassette is written only if it is whole", async (t) => {
  const { project } = await recorded();
  const cassette = project.cassette(SUITE);
  const upstream = await model();
  t.after(upstream.close);
  const part = await project.vitest(["-t", "a capital"], asking(upstream));
  assert.equal(part.code, 1, part.said);
  assert.match(part.said, /is as it was: some tests of capital\.test\.ts were left out/);
  project.replace(SUITE, 'toContain("France")', 'toContain("Italy")');
  assert.equal((await project.vitest([], asking(upstream))).code, 1);
  assert.equal(project.cassette(SUITE), cassette);
});

test("what a failed test has paid for waits, and costs nothing at the next recording", async (t) => {
  const { project } = await recorded();
  const upstream = await model();
  t.after(upstream.close);
  project.replace(SUITE, 'toContain("France")', 'toContain("Italy")');
  assert.equal((await project.vitest([], asking(upstream))).code, 1);
  assert.equal(upstream.asked.length, 5);
  const cassette = project.cassette(SUITE);
  // Killed as well: before it has begun with what waits, when it has a part of that, and again.
  for (const after of [200, 500, 700, 900]) {
    const vitest = project.start(project.path("node_modules/.bin/vitest"), ["run"], asking(upstream));
    const ended = project.ended(vitest);
    await Promise.race([ended, pause(after)]);
    if (vitest.exitCode === null) process.kill(-vitest.pid, "SIGKILL");
    await ended;
    assert.equal(project.cassette(SUITE), cassette);
  }
  project.replace(SUITE, 'toContain("Italy")', 'toContain("France")');
  const { code, said } = await project.vitest([], asking(upstream));
  assert.equal(code, 0, said);
  assert.equal(upstream.asked.length, 5);
  assert.equal((await project.vitest([], {})).code, 0);
  // Nothing waits any more.
  assert.equal((await project.vitest([], asking(upstream))).code, 0);
  assert.equal(upstream.asked.length, 10);
});

test("a client whose base URL is written into the program is recorded and replayed", async () => {
  const project = new Project();
  const upstream = await model();
  project.remove(SUITE);
  project.write(
    "written.test.ts",
    `import http, { request } from "node:http";
     import { text } from "node:stream/consumers";
     import OpenAI from "openai";
     import { expect, test } from "vitest";

     const url = "${upstream.url}/v1";
     const messages = [{ role: "user" as const, content: "Say yes." }];
     const openai = new OpenAI({ baseURL: url, apiKey: "sk-real" });
     const body = JSON.stringify({ model: "m", messages });

     const posted = (ask: any, ...target: any[]) =>
       new Promise<string>((resolve, reject) => {
         const asked = ask(...target, async (answer: any) => resolve(await text(answer)));
         asked.on("error", reject);
         asked.end(body);
       });

     test("openai, fetch and node:http", async () => {
       const { choices } = await openai.chat.completions.create({ model: "m", messages });
       expect(choices[0].message.content).toContain("Say yes.");
       const path = "/v1/chat/completions";
       const fetched = await fetch(url + "/chat/completions", { method: "POST", body });
       expect(fetched.url).toBe(url + "/chat/completions");
       expect(await fetched.text()).toContain("Say yes.");
       const again = await fetch(new Request(url + "/chat/completions", { method: "POST", body }));
       expect(await again.text()).toContain("Say yes.");
       const { hostname, port } = new URL(url);
       expect(await posted(request, url + "/chat/completions", { method: "POST" })).toContain("Say yes.");
       expect(await posted(http.request, { hostname, port, path, method: "POST" })).toContain("Say yes.");
     });`,
  );
  const { RETOLD, OPENAI_API_KEY } = asking(upstream);
  const record = await project.vitest([], { RETOLD, OPENAI_API_KEY });
  assert.equal(record.code, 0, record.said);
  assert.equal(upstream.asked.length, 5);
  upstream.close();
  const replay = await project.vitest([], {});
  assert.equal(replay.code, 0, replay.said);
});

test("each test gets its own answers, whichever of the others are run", async (t) => {
  const project = new Project();
  const upstream = await model();
  t.after(upstream.close);
  project.remove(SUITE);
  project.write(
    "same.test.ts",
    `import { existsSync, readFileSync, writeFileSync } from "node:fs";
     import http from "node:http";
     import { text } from "node:stream/consumers";
     import OpenAI from "openai";
     import { describe, expect, test } from "vitest";

     const openai = new OpenAI();
     const body = { model: "m", messages: [{ role: "user" as const, content: "The same?" }] };
     const ask = async () => (await openai.chat.completions.create(body)).choices[0].message.content;
     const post = () =>
       new Promise<string>((resolve, reject) => {
         const url = process.env.OPENAI_BASE_URL + "/chat/completions";
         const asked = http.request(url, { method: "POST", headers: { "X-Retold-Call": "posted" } }, (answer) => resolve(text(answer)));
         asked.on("error", reject);
         asked.end(JSON.stringify(body));
       });
     const check = (name: string, ...said: unknown[]) => {
       const file = "kept-" + name.replaceAll("/", "-");
       if (!existsSync(file)) writeFileSync(file, JSON.stringify(said));
       expect(JSON.stringify(said)).toBe(readFileSync(file, "utf8"));
     };

     for (const n of [1, 2, 3]) test("plain " + n, async () => check("plain " + n, await ask(), await ask()));
     describe.concurrent("at once", () => {
       for (const n of [1, 2, 3]) test("concurrent " + n + "/ä", async () => check("concurrent " + n, await ask(), await ask()));
     });
     for (const n of [1, 2]) test("posted " + n, async () => check("posted " + n, await post(), await ask()));`,
  );
  const record = await project.vitest([], asking(upstream));
  assert.equal(record.code, 0, record.said);
  assert.equal(upstream.asked.length, 16);
  for (const only of ["plain 3", "concurrent 2", "posted 2", "2", "1|3", "."]) {
    const { code, said } = await project.vitest(["-t", only], {});
    assert.equal(code, 0, said);
  }
});

test("an edited request is named", async () => {
  const { project } = await recorded();
  project.replace(`__cassettes__/${SUITE}.yaml`, "Name a colour.", "Name a number.");
  const { code, said } = await project.vitest([SUITE], {});
  assert.equal(code, 1, said);
  assert.match(said, /FAIL +capital.test.ts.*\n *Error: retold: capital\.test\.ts\.yaml, exchanges\.\d .*the request was edited/);
});

test("retold around vitest records and replays the whole run", async () => {
  const project = new Project();
  const upstream = await model();
  const vitest = ["--", project.path("node_modules/.bin/vitest"), "run"];
  const { RETOLD: _, ...variables } = asking(upstream);
  const record = await project.retold(["record", ...vitest], variables);
  upstream.close();
  assert.equal(record.code, 0, record.said);
  assert.equal(project.cassette(SUITE), undefined);
  const replay = await project.retold(["replay", "latest", ...vitest]);
  assert.equal(replay.code, 0, replay.said);
  project.replace(SUITE, 'capital("France")', 'capital("Italy")');
  assert.equal((await project.retold(["replay", "latest", ...vitest])).code, 1);
});

test("retold ends with the tests, however they end", async () => {
  const project = new Project();
  project.write(
    "slow.test.ts",
    `import { writeFileSync } from "node:fs";
     import { test } from "vitest";
     test("slow", async () => {
       writeFileSync("pid", String(process.pid));
       writeFileSync("url", process.env.RETOLD_URL!);
       writeFileSync("ready", "");
       await new Promise((resolve) => setTimeout(resolve, 60_000));
     }, 60_000);`,
  );
  // Ctrl-C, which a terminal sends to all processes, and the worst that can happen to the one that has the tests.
  const ends = [
    (vitest) => process.kill(-vitest.pid, "SIGINT"),
    () => process.kill(Number(project.read("pid")), "SIGKILL"),
  ];
  for (const end of ends) {
    const vitest = project.start(project.path("node_modules/.bin/vitest"), ["run", "slow"], {});
    while (!existsSync(project.path("ready"))) await pause(20);
    const url = project.read("url");
    assert.ok(await answers(url));
    end(vitest);
    assert.notEqual((await project.ended(vitest)).code, 0);
    const since = Date.now();
    while (await answers(url)) {
      assert.ok(Date.now() - since < 10_000, "retold is still there");
      await pause(50);
    }
    project.remove("ready");
  }
});

async function answers(url) {
  return fetch(url).then(
    () => true,
    () => false,
  );
}
