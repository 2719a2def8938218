// Reports from disk, without a network: no errors, no barriers, and numbers that can be saved.

import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { browse, check } from "./browser.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const reports = readdirSync(".").filter((name) => name.endsWith(".html"));
check(reports.length > 0, "there are no reports");

await browse({ offline: true, acceptDownloads: true }, async (page, base) => {
  for (const name of reports) {
    await page.goto(`${base}/${name}`);
    const [charts, numbers] = [page.locator("figure svg"), page.locator("figure figcaption a")];
    check((await charts.count()) > 0 && (await charts.count()) === (await numbers.count()), `${name} has plots, each with its numbers`);
    const saved = page.waitForEvent("download");
    await numbers.first().press("Enter");
    const csv = readFileSync(await (await saved).path(), "utf8");
    check(csv.trimEnd().split("\n").length > 1 && csv.includes(","), `${name}: ${csv}`);
  }

  // Prompts and answers: found by words, and opened from their rows.
  await page.goto(`${base}/texts.html`);
  const rows = page.locator("#texts-rows > tr");
  const all = await rows.count();
  const took = await page.evaluate(() => {
    const [find, begun] = [document.getElementById("texts-find"), performance.now()];
    find.value = "solve/1 numbers";
    find.dispatchEvent(new Event("input"));
    return performance.now() - begun;
  });
  check(all > 1 && (await rows.count()) > 0 && (await rows.count()) < all, `${await rows.count()} of ${all} rows are found`);
  check(took < 1000, `searching took ${took} ms`);
  await rows.first().getByRole("button").click();
  check((await page.locator("#texts-rows pre").count()) > 1, "a row opens its prompt and its answer");
  await rows.first().getByRole("button").click();
  check((await page.locator("#texts-rows pre").count()) === 0, "and closes them");
});

for (const colorScheme of ["light", "dark"]) {
  // The policy of the page would refuse the script that looks for barriers.
  await browse({ colorScheme, bypassCSP: true, offline: true }, async (page, base) => {
    for (const name of reports) {
      await page.goto(`${base}/${name}`);
      await page.evaluate(() => document.querySelectorAll("details").forEach((it) => (it.open = true)));
      await page.addScriptTag({ path: axe });
      const found = await page.evaluate(async () => {
        const { violations } = await globalThis.axe.run();
        return violations.map(({ id, impact, nodes }) => ({ id, impact, where: nodes.slice(0, 3).map((node) => `${node.html} ${node.failureSummary}`) }));
      });
      const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical");
      check(serious.length === 0, `${colorScheme} ${name}\n${JSON.stringify(serious, null, 1)}`);
    }
  });
}
console.log("all is well");
