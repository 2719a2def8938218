// No kind of page is wider than a telephone: what is wide scrolls within itself.

import { browse, check, everyKind, settled } from "./browser.mjs";

await browse({ viewport: { width: 390, height: 844 } }, async (page, base) => {
  for (const address of await everyKind(page, base)) {
    await page.goto(base + address);
    await settled(page);
    const { width, wide } = await page.evaluate(() => {
      const scrolls = (element) => element && (["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
      const isWide = (element) => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element.parentElement);
      const wide = [...document.body.querySelectorAll("*")].filter(isWide);
      return { width: document.documentElement.scrollWidth, wide: wide.slice(0, 3).map((element) => element.outerHTML.slice(0, 200)) };
    });
    check(width <= 390, `${address} is ${width} px wide\n${wide.join("\n")}`);
  }
});
console.log("all is well");
