// The five questions that somebody has about a run, each in at most three clicks from the list of runs, with the answer
// above the fold: of a study, and of a program whose calls say who is asked and when.

import { browse, check, settled } from "./browser.mjs";

const MOST = 3;

await browse({ viewport: { width: 1440, height: 900 } }, async (page, base) => {
  /** Asks a question: clicks one thing after another, and looks for the answer. */
  const ask = async (question, clicks, answer) => {
    check(clicks.length <= MOST, `${question}: ${clicks.length} clicks`);
    await page.goto(`${base}/`);
    await settled(page);
    for (const found of clicks) {
      const link = found();
      await link.waitFor();
      await link.click();
      await page.waitForLoadState();
      await settled(page);
    }
    const place = answer();
    await place.waitFor();
    const box = await place.boundingBox();
    check(box.y >= 0 && box.y < 900, `${question}: the answer is at ${box.y} px of ${page.url()}`);
    console.log(`${clicks.length} clicks: ${question}`);
    return (await place.innerText()).trim();
  };

  for (const [what, of] of [["a study", "deliberation"], ["a program", "exchanges"]]) {
    // The last run, and the one before it; decisions that were accepted are below them.
    const run = (number) => () => page.locator("tr:not(.below)", { hasText: of }).nth(number).locator("[data-open]");
    const table = () => page.locator("[data-table] tbody [data-open]").first();

    const read = await ask(`why did this person's vote change, in ${what}`, [run(0), table, () => page.locator(".ends .button").last()], () => page.locator("[data-dialogue]"));
    check(!read.includes("…") && read.length > 60, `what was read is shown in full: ${read}`);

    const changes = await ask(`which prompts changed between two runs, in ${what}`, [run(0), () => page.locator(".others .button").first(), () => page.getByRole("link", { name: /changes? of prompts/ })], () => page.locator("#h-changes"));
    check(changes === "Which prompts changed", changes);
    check((await page.locator("[data-changes] ins", { hasText: "money" }).count()) > 0, "the new word is marked");
    check(/\d calls?, the first/.test(await page.locator("[data-changes] .sub").first().innerText()), "a change says how many calls have it");

    await ask(`where does the money go, in ${what}`, [run(0), () => page.getByRole("link", { name: "Numbers" })], () => page.locator("#h-money"));
    check(/\$\d/.test(await page.getByRole("region", { name: "Cost by model" }).innerText()), "models have a cost");

    // Of a program, a parser decided later: its counts are among the numbers.
    const unread = () => page.locator("tr", { has: page.getByText("nothing found") }).getByRole("link").first();
    const ways = what === "a study" ? [run(0), () => page.locator("[data-unread]").first()] : [run(0), () => page.getByRole("link", { name: "Numbers" }), unread];
    const found = await ask(`which answers could not be parsed, in ${what}`, ways, () => page.locator(".found"));
    const rows = await page.locator(".timeline tbody tr.r-DecisionMade").count();
    check(rows > 0 && found.startsWith(`${rows} of `), `${found}: ${rows} rows`);

    await ask(`is A different from B, in ${what}`, [run(0)], () => page.locator(".figure .picture:visible, .figure .differences:visible").first());
    check((await page.locator(".figure .differences tbody tr").count()) > 0, "groups are compared");
  }
});
console.log("all is well");
