// axe-core on every kind of page, in light and in dark.

import { createRequire } from "node:module";
import { browse, check, json, settled } from "./browser.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

for (const colorScheme of ["light", "dark"]) {
  // The policy of the page would refuse the script that looks for barriers.
  await browse({ colorScheme, bypassCSP: true, reducedMotion: "reduce" }, async (page, base) => {
    const whole = (path) => json(page, `${base}${path}`);
    const { runs } = await whole("/");
    const addresses = ["/", "/compare", `/compare?a=${runs[0].run}&b=${runs[1].run}`, `/run/${runs.find(({ experiment }) => experiment === "game24").run}/check?to=game24@2`];
    for (const [number, { run, kind }] of runs.entries()) {
      const { rows, rated_by_several, table } = await whole(`/run/${run}?kind=DecisionMade`);
      if (rated_by_several.length > 0) addresses.push(`/run/${run}/agreement`);
      const seq = rows.at(-1).seq;
      // What differs from study to study is what it says.
      const pages = number > 1 ? [`/exchange/${seq}`, "/state"] : ["", "?failed=1", "?by=call&sort=-cost", "/stats", "?kind=Occurred&call=nobody", `/exchange/${seq}`, `/chain/${seq}`, `/event/${seq}`, "/state", "/check"];
      // Accepted decisions have no state.
      addresses.push(...pages.filter((path) => path !== "/state" || kind === "study").map((path) => `/run/${run}${path}`), table.rows[0].href);
    }
    for (const address of addresses) {
      await page.goto(base + address);
      await settled(page);
      await page.addScriptTag({ path: axe });
      const found = await page.evaluate(async () => {
        const { violations } = await globalThis.axe.run();
        return violations.map(({ id, impact, nodes }) => ({ id, impact, where: nodes.slice(0, 3).map((node) => `${node.html} ${node.failureSummary}`) }));
      });
      const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical");
      check(serious.length === 0, `${colorScheme} ${address}\n${JSON.stringify(serious, null, 1)}`);
    }
  });
}
console.log("all is well");
