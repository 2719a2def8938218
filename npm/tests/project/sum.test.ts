import { expect, test } from "vitest";

test("nothing is asked", () => {
  expect(1 + 1).toBe(2);
});
