// axe-core on every kind of page, in light and in dark.

import { createRequire } from "node:module";
import { browse, check, everyKind, settled } from "./browser.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

for (const colorScheme of ["light", "dark"]) {
  // The policy of the page would refuse the script that looks for barriers.
  await browse({ colorScheme, bypassCSP: true, reducedMotion: "reduce" }, async (page, base) => {
    for (const address of await everyKind(page, base)) {
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
