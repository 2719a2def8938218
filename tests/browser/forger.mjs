// Another site has a browser ask retold in every way that a page can, with and without the secret of the
// command; then the program itself asks once. Every answer that the page's requests got is printed.

import { createServer } from "node:http";
import { chromium } from "playwright-core";

const base = process.env.RETOLD_URL ?? process.argv[2];
const { origin } = new URL(base);
const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });

const site = createServer((_, response) => {
  response.setHeader("content-type", "text/html");
  response.end("<!doctype html><title>another site</title><link rel=icon href=data:,>");
});
await new Promise((done) => site.listen(0, "127.0.0.1", done));

/** Asks from the page, and waits for each answer. */
async function forge({ url, body }) {
  const fact = JSON.stringify({ name: "forged", value: true });
  const asked = `${url}/openai/chat/completions`;
  const ended = (it, ...events) => new Promise((done) => events.forEach((event) => it.addEventListener(event, done)));
  const put = (element, ...events) => {
    const loaded = ended(element, ...events);
    document.body.append(element);
    return loaded;
  };
  const made = (tag, fields) => Object.assign(document.createElement(tag), fields);
  const fetched = (...request) => fetch(...request).catch(() => {});
  await fetched(asked, { method: "POST", mode: "no-cors", body });
  await fetched(asked, { method: "POST", headers: { "content-type": "application/json" }, body });
  await fetched(`${url}/openai/models`, { mode: "no-cors" });
  await fetched(`${url}/_retold/facts`, { method: "POST", mode: "no-cors", body: fact });
  await fetched(`${url}/_retold/finish`, { method: "POST", mode: "no-cors" });
  await put(made("img", { src: `${url}/openai/models` }), "load", "error");
  await put(made("script", { src: `${url}/openai/models` }), "load", "error");
  await put(made("iframe", { src: `${url}/openai/models` }), "load");
  const frame = made("iframe", { name: "frame" });
  document.body.append(frame);
  const form = made("form", { action: asked, method: "post", enctype: "text/plain", target: "frame" });
  form.append(made("input", { name: body.slice(0, -1), value: "}" }));
  document.body.append(form);
  const sent = ended(frame, "load");
  form.submit();
  await sent;
  const events = new EventSource(`${url}/openai/models`);
  await ended(events, "open", "error");
  events.close();
  await ended(new WebSocket(`${url.replace("http", "ws")}/openai/realtime`), "open", "error");
}

const args = process.getuid && process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args, timeout: 600_000 });
const statuses = {};
try {
  for (const host of ["127.0.0.1", "localhost"]) {
    for (const url of new Set([origin, base, `${origin}/run/forged`])) {
      const page = await browser.newPage();
      page.on("response", (response) => {
        if (response.url().startsWith(origin)) statuses[response.status()] = (statuses[response.status()] ?? 0) + 1;
      });
      await page.goto(`http://${host}:${site.address().port}/`);
      await page.evaluate(forge, { url, body });
      await page.close();
    }
  }
} finally {
  await browser.close();
  site.close();
}
console.log("the page:", JSON.stringify(statuses));
const answer = await fetch(`${base}/openai/chat/completions`, { method: "POST", body });
console.log("the program:", answer.status, (await answer.json()).choices[0].message.content);
