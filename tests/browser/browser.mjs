// A browser that notices everything that it should not: errors, and requests to another host.

import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const input = createInterface({ input: process.stdin });
const lines = input[Symbol.asyncIterator]();

// The longest that one step may take, in milliseconds: a machine that does many other things is slow, and
// a test of what a page says must not fail for that.
const PATIENCE = 600_000;

// How long after a page its script comes, in milliseconds.
const LATE = 200;

/** Has events added to the run that is recorded; returns the seq of the last. */
export async function add(what) {
  console.log(what);
  return Number((await lines.next()).value);
}

export function check(holds, what) {
  if (!holds) throw new Error(what);
}

/** Opens a browser, does something in it, and checks that nothing went wrong on any page. */
export async function browse(options, act) {
  const address = process.argv[2];
  const [base, token] = address.split("/?token=");
  // In a container, Chromium's own sandbox needs rights that root there does not have.
  const args = process.getuid && process.getuid() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args, timeout: PATIENCE });
  const wrong = [];
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    context.setDefaultTimeout(PATIENCE);
    // The script comes late, as on a busy machine: what is done before that must not be lost.
    await context.route("**/*.js", async (route) => {
      await new Promise((done) => setTimeout(done, LATE));
      await route.continue();
    });
    const page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") wrong.push(`console: ${message.text()} at ${page.url()}`);
    });
    page.on("pageerror", (error) => wrong.push(`error: ${error} at ${page.url()}`));
    page.on("request", (request) => {
      if (!request.url().startsWith(`${base}/`) && !request.url().startsWith("data:")) wrong.push(`request: ${request.url()}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) wrong.push(`status ${response.status()}: ${response.url()}`);
    });
    // The browser keeps the token of the address that is opened first.
    if (token) await page.goto(address);
    await act(page, base);
  } finally {
    await browser.close();
    input.close();
    process.stdin.destroy();
  }
  check(wrong.length === 0, wrong.join("\n"));
}

/** A page as JSON, once it is complete: until then, the server answers 202. */
export async function json(page, address) {
  for (;;) {
    const answer = await page.request.get(address, { headers: { accept: "application/json" }, timeout: PATIENCE });
    if (answer.status() !== 202) return answer.json();
  }
}

/** Waits until the page's script has started: keys do nothing before that. */
export async function started(page) {
  await page.waitForFunction(() => document.documentElement.classList.contains("js"));
}

/** Waits until the page has been made completely. */
export async function settled(page) {
  await page.waitForFunction(() => !document.body.hasAttribute("data-unfinished"));
}

/** The address of every kind of page of a log whose runs have a game of 24 among them. */
export async function everyKind(page, base) {
  const whole = (path) => json(page, `${base}${path}`);
  const { runs } = await whole("/");
  const addresses = ["/", "/compare", `/compare?a=${runs[0].run}&b=${runs[1].run}`, `/run/${runs.find(({ experiment }) => experiment === "game24").run}/check?to=game24@2`];
  for (const [number, { run, kind }] of runs.entries()) {
    const { rows, rated_by_several, table } = await whole(`/run/${run}?kind=DecisionMade`);
    if (rated_by_several.length > 0) addresses.push(`/run/${run}/agreement`);
    const seq = rows.at(-1).seq;
    // What differs from study to study is what it says.
    const pages = number > 1 ? [`/exchange/${seq}`, "/state", "/parts"] : ["", "?failed=1", "?by=call&sort=-cost", "/stats", "?kind=Occurred&call=nobody", `/exchange/${seq}`, `/chain/${seq}`, `/event/${seq}`, "/state", "/parts", "/check"];
    // Accepted decisions have no state and no parts.
    addresses.push(...pages.filter((path) => !["/state", "/parts"].includes(path) || kind === "study").map((path) => `/run/${run}${path}`), table.rows[0].href);
  }
  return addresses;
}
