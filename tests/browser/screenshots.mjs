// Pictures of the main pages, for scripts/screenshots.

import { browse, json, settled } from "./browser.mjs";

const folder = process.argv[3];

async function pictures(suffix, options) {
  await browse({ viewport: { width: 1180, height: 740 }, ...options }, async (page, base) => {
    const whole = (path) => json(page, `${base}${path}`);
    const { runs } = await whole("/");
    const of = (experiment) => `/run/${runs.find((run) => run.experiment === experiment).run}`;
    const study = of("deliberation");
    const vote = (await whole(`${study}?call=final_vote&kind=DecisionMade`)).rows.at(-1).seq;
    const facts = (await whole(`${study}?kind=Occurred&call=final_vote`)).rows;
    const pages = {
      results: study,
      timeline: `${study}?call=p_0012#h-timeline`,
      exchange: `${study}/exchange/${vote}`,
      why: `${study}/chain/${vote}`,
      state: `${study}/state?at=${facts[3].seq}`,
      parsers: `${of("game24")}/check`,
      agreement: `${study}/agreement#h-rated`,
    };
    for (const [name, address] of Object.entries(pages)) {
      await page.goto(base + address);
      await settled(page);
      // A page that was not complete at first has no place to scroll to.
      await page.goto(base + address);
      await page.screenshot({ path: `${folder}/${name}${suffix}.png` });
    }
  });
}

await pictures("", { colorScheme: "light" });
await pictures("-dark", { colorScheme: "dark" });
