// Open a run, filter to failed calls, open one, follow its decision to the prompt, open the parser diff, scrub to an
// event and back, follow a live run: by mouse.

import { add, browse, check, settled } from "./browser.mjs";

await browse({}, async (page, base) => {
  await page.goto(`${base}/`);
  await page.locator("tr", { hasText: "game24" }).getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name: /game24/ }).waitFor();

  // A figure is pinned into the text of a file, and unpinned again.
  await settled(page);
  const [pin, pins] = [page.locator("[data-pin]").first(), page.locator("[data-pins-text]")];
  await pin.click();
  check((await pin.getAttribute("aria-pressed")) === "true", "the figure is pinned");
  const line = await pin.getAttribute("data-pin");
  check((await pins.innerText()).trim() === `figures:\n${line}`, `the text has it alone: ${await pins.innerText()}`);
  await pin.click();
  check((await pin.getAttribute("aria-pressed")) === "false", "and no longer");

  // What came out: the table, sorted by a heading, narrowed down by a facet, and as a file.
  await settled(page);
  const heading = page.getByRole("columnheader", { name: "cost" });
  await heading.getByRole("link").click();
  await page.waitForURL(/sort=cost/);
  await settled(page);
  check((await heading.getAttribute("aria-sort")) === "ascending", "the table is sorted");
  await page.getByLabel("puzzle", { exact: true }).selectOption({ index: 1 });
  await page.waitForURL(/label=puzzle/);
  await settled(page);
  check((await heading.getAttribute("aria-sort")) === "ascending", "it stays sorted");
  const rows = await page.locator("[data-table] tbody tr").count();
  const file = await page.request.get(base + (await page.locator("[data-csv]").getAttribute("href")));
  const lines = (await file.text()).trim().split("\n");
  check(rows > 1 && lines.length === rows + 1, `the file has the ${rows} rows that are shown: ${lines.length - 1}`);
  await page.getByRole("link", { name: "Clear" }).click();
  await page.waitForURL((url) => !url.search);

  await page.getByRole("checkbox", { name: /failed/ }).check();
  await page.waitForURL(/failed=1/);
  await settled(page);
  const failed = page.locator("tr.r-AttemptFailed");
  check((await failed.count()) > 0, "there are failed attempts");
  check((await page.locator(".timeline tbody tr").count()) === (await failed.count()), "only failed attempts are listed");

  await failed.first().getByRole("link").click();
  await page.getByRole("heading", { name: "Failed attempts" }).waitFor();
  check(await page.locator("#answer mark").count() <= 1, "at most one part is marked");

  await page.getByRole("link", { name: /^Why\?/ }).click();
  await page.getByRole("heading", { level: 1, name: /^Why/ }).waitFor();
  await page.locator("svg a", { has: page.locator(".k-prompt") }).first().click();
  await page.waitForURL(/exchange\/\d+#prompt/);
  await page.getByRole("heading", { name: "Prompt" }).waitFor();
  check(/numbers|24/.test(await page.locator("#prompt").innerText()), "the prompt is there");

  await page.getByRole("link", { name: /Parser then and now/ }).click();
  await page.getByRole("heading", { level: 1, name: "Parsers then and now" }).waitFor();
  await settled(page);
  check(/game24@1/.test(await page.locator(".sub").innerText()), "the recorded version is named");

  await page.getByRole("link", { name: "State", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: /^State after event/ }).waitFor();
  await settled(page);
  const end = await page.locator("[data-state]").innerText();
  const slider = page.getByRole("slider");
  const box = await slider.boundingBox();
  const at = async () => Number((await page.locator("[data-at]").innerText()).replaceAll(",", ""));
  const last = await at();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction((last) => Number(new URL(location).searchParams.get("at") ?? last) < last / 2 + 30, last);
  await page.waitForFunction((before) => document.querySelector("[data-state]").innerText !== before, end);
  const middle = await at();
  check(middle > last / 2 - 30 && middle < last / 2 + 30, `the slider was moved to ${middle} of ${last}`);
  const again = await slider.boundingBox();
  await page.mouse.click(again.x + again.width - 2, again.y + again.height / 2);
  await page.waitForFunction((end) => document.querySelector("[data-state]").innerText === end, end);
  await page.getByRole("link", { name: "‹ Fact before" }).click();
  await page.waitForURL(/at=\d+/);

  await page.getByRole("link", { name: "retold" }).click();
  await page.locator("tr", { hasText: "society" }).getByRole("link").first().click();
  await page.getByText("live: new events appear here").waitFor();
  const seen = await add("feed 10");
  await page.locator(`#e${seen}`).waitFor();
  await page.locator(`#e${seen}`).getByRole("link").first().click();
  await page.goBack();
  const next = await add("feed 5");
  await page.locator(`#e${next}`).waitFor();
  const done = await add("finish");
  await page.getByText("the run has finished").waitFor();
  await page.locator("[data-about] .o-finished").waitFor();
  // The server counts in the background, and the page asks again until it has counted all: then it says what a page
  // says that is loaded now.
  const fresh = await page.context().newPage();
  await fresh.goto(page.url());
  await settled(fresh);
  const totals = await fresh.locator("[data-totals]").innerText();
  check(totals.includes(done.toLocaleString("en")), `all events are counted: ${totals}`);
  await page.waitForFunction((totals) => document.querySelector("[data-totals]").innerText === totals, totals);
});
console.log("all is well");
