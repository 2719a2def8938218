// Pictures of the pages that people open first, for scripts/screenshots: in light and dark, on a desk and on a telephone.

import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { json, settled } from "./browser.mjs";

const [, , retold, folder, report, inspect] = process.argv;
const [base] = retold.split("/?token=");

const SIZES = { "": { width: 1440, height: 900 }, "-phone": { width: 390, height: 844 } };

const args = process.getuid && process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ["light", "dark"]) {
    const end = `${size}${colorScheme === "dark" ? "-dark" : ""}.png`;
    const context = await browser.newContext({ viewport, colorScheme });
    const page = await context.newPage();
    await page.goto(retold);
    const picture = async (name, address) => {
      await page.goto(address);
      await settled(page).catch(() => {});
      // A page that was not complete at first has no place to scroll to.
      await page.goto(address);
      await page.screenshot({ path: `${folder}/${name}${end}` });
    };
    const { runs } = await json(page, `${base}/`);
    const all = runs.filter((run) => run.experiment === "deliberation").map((run) => run.run);
    const study = `${base}/run/${all[0]}`;
    const vote = (await json(page, `${study}?call=final_vote&kind=DecisionMade`)).rows.at(-1).seq;
    await picture("list", `${base}/`);
    await picture("run", study);
    await picture("story", `${study}/participant/p_0012`);
    await picture("why", `${study}/chain/${vote}`);
    await picture("compare", `${base}/compare?a=${all[1]}&b=${all[0]}`);
    await picture("report", pathToFileURL(report).href);
    await context.close();
  }
}
// An evaluation that Inspect has made, in its own viewer and here.
const context = await browser.newContext({ viewport: SIZES[""] });
const page = await context.newPage();
await page.goto(retold);
const { runs } = await json(page, `${base}/`);
const imported = runs.find((run) => run.experiment === "program" || run.experiment === "exchanges");
await page.goto(`${base}/run/${imported.run}`);
await settled(page);
await page.screenshot({ path: `${folder}/inspect-here.png` });
await page.goto(inspect);
await page.getByText("popularity").first().click({ timeout: 60_000 }).catch(() => {});
await page.waitForTimeout(5_000);
await page.screenshot({ path: `${folder}/inspect-there.png` });
await browser.close();
