// How long a search in a report with texts takes, from the last key to the rows: printed as JSON.

import { chromium } from "playwright-core";

const WORDS = ["answer", "24", "8 * 3", "step", "no such word"];

const args = process.getuid && process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
try {
  const page = await browser.newPage();
  await page.goto(process.argv[2]);
  const times = await page.evaluate(async (words) => {
    const find = document.getElementById("texts-find");
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const times = [];
    for (const word of words) {
      const begun = performance.now();
      find.value = word;
      find.dispatchEvent(new Event("input"));
      await painted();
      times.push(performance.now() - begun);
    }
    return times;
  }, WORDS);
  times.sort((one, other) => one - other);
  console.log(JSON.stringify({ tries: times.length, median: times[Math.floor(times.length / 2)], slowest: times[times.length - 1] }));
} finally {
  await browser.close();
}
