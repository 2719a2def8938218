// The way of mouse.mjs by keyboard alone.

import { add, browse, check, settled, started } from "./browser.mjs";

await browse({}, async (page, base) => {
  const press = async (...keys) => {
    await started(page);
    for (const key of keys) await page.keyboard.press(key);
  };
  const focused = () => page.evaluate(() => document.activeElement.closest("[data-row]")?.innerText ?? "");
  const title = (name) => page.getByRole("heading", { level: 1, name }).waitFor();
  /** Moves down to a row with a text. */
  const downTo = async (text) => {
    for (let tries = 0; tries < 50; tries += 1) {
      await press("j");
      if (text.test(await focused())) return;
    }
    throw new Error(`no row has ${text}`);
  };

  await page.goto(`${base}/`);
  // The first thing that Tab reaches leads past the head of the page.
  await press("Tab");
  check((await page.evaluate(() => document.activeElement.className)) === "skip", "Tab reaches the skip link first");
  await press("?");
  await page.getByRole("dialog").waitFor();
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });

  await downTo(/game24/);
  await press("k", "j", "Enter");
  await title(/game24/);
  // The time axis: closer, and all of it again.
  await settled(page);
  await press("+");
  await page.waitForURL(/window=/);
  await settled(page);
  await press("0");
  await page.waitForURL((url) => !url.search.includes("window"));
  await settled(page);
  await press("/");
  check((await page.evaluate(() => document.activeElement.id)) === "call", "/ reaches the filter");
  // A letter in a field is a letter.
  await press("j");
  check((await page.locator("#call").inputValue()) === "j", "the field takes letters");
  await press("Backspace", "Escape");
  // A page that is not complete yet is loaded again, and what is being written on it stays.
  await page.route(page.url(), async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replace("<body ", "<body data-unfinished ") });
  }, { times: 1 });
  await page.reload();
  await press("/", "p");
  await settled(page);
  await press("_");
  check((await page.locator("#call").inputValue()) === "p_", "what is written stays");
  await press("Backspace", "Backspace", "Escape", "f");
  await page.waitForURL(/failed=1/);
  await settled(page);
  await press("ArrowDown");
  check(/^solve/.test(await focused()), `a call with a failed attempt has the focus: ${await focused()}`);
  const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  check(ring === "solid", "the focus is visible");
  await press("Enter");
  await page.getByRole("heading", { name: "Failed attempts" }).waitFor();

  await press("w");
  await title(/^Why/);
  const card = page.locator("svg a", { has: page.locator(".k-prompt") }).first();
  await page.locator(".graph").focus();
  for (let tries = 0; tries < 30 && !(await card.evaluate((card) => card === document.activeElement)); tries += 1) await press("Tab");
  await press("Enter");
  await page.waitForURL(/exchange\/\d+#prompt/);
  await press("d");
  await title("Parsers then and now");
  await settled(page);

  // Up to the run, and to the state by its tab.
  await press("u");
  await title(/game24/);
  await page.getByRole("link", { name: "State", exact: true }).focus();
  await press("Enter");
  await title(/^State after event/);
  await settled(page);
  const end = await page.locator("[data-state]").innerText();
  const at = () => page.evaluate(() => Number(new URL(location).searchParams.get("at")));
  await press("/", "Home");
  await page.waitForFunction(() => new URL(location).searchParams.get("at") === "1");
  await page.waitForFunction((before) => document.querySelector("[data-state]").innerText !== before, end);
  await press("ArrowRight");
  await page.waitForFunction(() => new URL(location).searchParams.get("at") === "2");
  await press("End");
  await page.waitForFunction((end) => document.querySelector("[data-state]").innerText === end, end);
  const last = await at();
  await press("Escape", "p");
  await page.waitForFunction((last) => Number(new URL(location).searchParams.get("at")) < last, last);

  await press("u");
  await title(/game24/);
  await press("u");
  await title("Runs");
  await downTo(/society/);
  await press("Enter");
  await page.getByText("live: new events appear here").waitFor();
  const seen = await add("feed 10");
  await page.locator(`#e${seen}`).waitFor();
  await press("k");
  check((await focused()).includes(String(seen)), "the newest row can be reached");
  await add("finish");
  await page.getByText("the run has finished").waitFor();
});
console.log("all is well");
