// A setup file for vitest: what the tests of a file ask models is answered from a cassette beside it.
//
//     export default { test: { setupFiles: ["@retold/retold/vitest"] } };
//
// `RETOLD=record npx vitest run` writes the cassettes.

import { afterAll, aroundEach, expect } from "vitest";

import { Cassette } from "./cassette.js";

// `retold record -- npx vitest run` and the like have set it, and do all of this for the whole run.
if (!process.env.RETOLD_URL) {
  // Before the tests are imported, so that the clients that they make at import find the variables.
  const cassette = await Cassette.begin(expect.getState().testPath);
  aroundEach((run, { task }) => cassette.within(task, run));
  // An answer that no test waited for is waited for here, for up to a minute.
  afterAll(({}, file) => cassette.end(file), 90_000);
}
