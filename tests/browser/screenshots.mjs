// Pictures of the main pages, for scripts/screenshots.

import { browse, settled } from "./browser.mjs";

const folder = process.argv[3];

async function pictures(suffix, options) {
  await browse({ viewport: { width: 1180, height: 740 }, ...options }, async (page, base) => {
    const json = async (path) => (await page.request.get(`${base}${path}`, { headers: { accept: "application/json" } })).json();
    const { runs } = await json("/");
    const of = (experiment) => `/run/${runs.find((run) => run.experiment === experiment).run}`;
    const study = of("deliberation");
    const vote = (await json(`${study}?call=final_vote&kind=DecisionMade`)).rows.at(-1).seq;
    const facts = (await json(`${study}?kind=Occurred&call=final_vote`)).rows;
    const pages = {
      timeline: `${study}?call=p_0012`,
      exchange: `${study}/exchange/${vote}`,
      why: `${study}/chain/${vote}`,
      state: `${study}/state?at=${facts[3].seq}`,
      parsers: `${of("game24")}/check`,
    };
    for (const [name, address] of Object.entries(pages)) {
      await page.goto(base + address);
      await settled(page);
      await page.screenshot({ path: `${folder}/${name}${suffix}.png` });
    }
  });
}

await pictures("", { colorScheme: "light" });
await pictures("-dark", { colorScheme: "dark" });
