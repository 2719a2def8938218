// The cassette of a test file.

import { AsyncLocalStorage } from "node:async_hooks";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";

import { catchRequests } from "./catch.js";
import { failure } from "./failure.js";
import { program } from "./program.js";
import { Server } from "./server.js";

/** What the tests of a file ask, recorded or replayed. */
export class Cassette {
  /**
   * Starts the server, and sets the variables in which SDKs look for it.
   *
   * @param {string} testFile
   */
  static async begin(testFile) {
    const mode = process.env.RETOLD;
    if (mode && mode !== "record") {
      throw failure(`RETOLD is ${JSON.stringify(mode)}: set it to "record", or unset it to replay`);
    }
    const cassette = new Cassette(testFile, mode === "record");
    await cassette.#begin();
    return cassette;
  }

  #server;
  #before = { ...process.env };
  #folder;
  #release;
  #tests = new AsyncLocalStorage();

  constructor(testFile, isRecorded) {
    this.testFile = relative(process.cwd(), testFile);
    this.path = join(dirname(testFile), "__cassettes__", `${basename(testFile)}.yaml`);
    this.isRecorded = isRecorded;
    this.exists = existsSync(this.path);
  }

  async #begin() {
    const started = (...args) => Server.start([...args, "--stdio", "--", "vitest", this.testFile]);
    if (this.exists && !this.isRecorded) {
      this.#server = await started("replay", this.path);
    } else if (this.isRecorded) {
      this.#folder = await this.#attempt();
      // What was paid for, and came to no cassette, is sent first.
      const isWaiting = existsSync(join(this.#folder, "log.db"));
      this.#server = await started(...this.#log(), ...(isWaiting ? ["fork", "latest"] : ["record"]));
    } else {
      // Tests that ask nothing need no cassette, and those that ask get the same refusal as any other.
      this.#folder = await mkdtemp(join(tmpdir(), "retold-"));
      await (await started(...this.#log(), "record")).end(0);
      this.#server = await started(...this.#log(), "replay", "latest");
    }
    const { environment, unset } = this.#server.greeting;
    for (const name of unset) delete process.env[name];
    Object.assign(process.env, environment);
    this.#release = catchRequests(this.#server.greeting, () => this.#tests.getStore());
  }

  /** Where the log of a recording is: what did not come to its end, however it ended, waits there for the next one. */
  async #attempt() {
    const packages = join(process.cwd(), "node_modules");
    if (!existsSync(packages)) return mkdtemp(join(tmpdir(), "retold-"));
    const folder = join(packages, ".cache", "retold", this.testFile.replaceAll("..", "_"));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  /**
   * Runs a test, whose name the calls of its requests begin with: it gets its own answers, whichever of the others are run.
   *
   * @param {import("vitest").RunnerTestCase} test
   * @param {() => Promise<void>} run
   */
  within(test, run) {
    return this.#tests.run(pathOf(test), run);
  }

  /**
   * Ends the server; throws if the tests asked anything else than was recorded.
   *
   * @param {import("vitest").RunnerTestFile} file
   */
  async end(file) {
    this.#release();
    for (const name in process.env) if (!(name in this.#before)) delete process.env[name];
    Object.assign(process.env, this.#before);
    const states = statesOf(file);
    const [hasFailed, isPart] = [states.includes("fail"), states.includes("skip")];
    let isDone = !this.isRecorded;
    try {
      const summary = await this.#server.end(hasFailed ? 1 : 0);
      if (!this.isRecorded) this.#compare(summary, hasFailed || isPart);
      else if (!hasFailed && summary.requests > 0) await this.#write(isPart);
      isDone ||= !hasFailed;
    } finally {
      if (this.#folder && isDone) await rm(this.#folder, { recursive: true, force: true });
    }
  }

  #compare({ not_recorded, differences, left, report }, isPart) {
    // What a test that failed or was left out would have asked is not missing.
    if (!(not_recorded || differences || (left && !isPart))) return;
    if (this.exists) throw failure(report);
    const path = relative(process.cwd(), this.path);
    throw failure(
      `there is no cassette ${path}: record it with \`RETOLD=record npx vitest run ${this.testFile}\`\n\n${report}`,
    );
  }

  async #write(isPart) {
    if (isPart && this.exists) {
      throw failure(
        `${relative(process.cwd(), this.path)} is as it was: some tests of ${this.testFile} were left out, and it may ` +
          "have their answers: record the whole file, or delete the cassette first",
      );
    }
    await mkdir(dirname(this.path), { recursive: true });
    // Beside the old one, which it replaces whole.
    const written = join(dirname(this.path), `.retold-${process.pid}.yaml`);
    try {
      await promisify(execFile)(program(), [...this.#log(), "export", "latest", written, "--as", "cassette", "--force"]);
      await rename(written, this.path);
    } finally {
      await rm(written, { force: true });
    }
  }

  #log() {
    return ["--log", join(this.#folder, "log.db")];
  }
}

/** How each test and each group in a group ended. */
function statesOf(group) {
  return group.tasks.flatMap((task) => [task.result?.state ?? task.mode, ...(task.tasks ? statesOf(task) : [])]);
}


/** The longest part of a path, in characters. */
const LONGEST = 100;

/** The names of the groups that a test is in, and its own, as the path of a call. */
function pathOf({ name, suite }) {
  const plain = name.replace(/[\x00-\x1f%/\x7f-\x9f]/g, (found) => encodeURIComponent(found)).trim() || "-";
  const digits = () => createHash("sha256").update(name).digest("hex").slice(0, 8);
  const part = plain.length > LONGEST ? `${plain.slice(0, LONGEST - 9)}-${digits()}` : plain;
  return suite ? `${pathOf(suite)}/${part}` : part;
}
