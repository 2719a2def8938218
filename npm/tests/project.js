// A copy of the project in ./project, and vitest run in it.

import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";

const HERE = import.meta.dirname;
/** Where scripts/test has installed the packages, ours as it is packed. */
export const PACKAGES = join(HERE, "../../target/npm/tests/node_modules");

const copies = mkdtempSync(join(tmpdir(), "retold-npm-"));
process.on("exit", () => rmSync(copies, { recursive: true, force: true }));

export class Project {
  constructor() {
    this.folder = mkdtempSync(join(copies, "project-"));
    cpSync(join(HERE, "project"), this.folder, { recursive: true });
    // A folder of its own, because something is kept there.
    mkdirSync(this.path("node_modules"));
    for (const name of readdirSync(PACKAGES)) symlinkSync(join(PACKAGES, name), this.path(join("node_modules", name)));
  }

  path(name) {
    return join(this.folder, name);
  }

  read(name) {
    return readFileSync(this.path(name), "utf8");
  }

  /** The cassette of a test file; nothing if there is none. */
  cassette(name) {
    const path = `__cassettes__/${name}.yaml`;
    return existsSync(this.path(path)) ? this.read(path) : undefined;
  }

  write(name, content, mode = 0o644) {
    writeFileSync(this.path(name), content, { mode });
  }

  remove(name) {
    rmSync(this.path(name), { recursive: true });
  }

  replace(name, from, to) {
    const before = this.read(name);
    if (!before.includes(from)) throw new Error(`${name} does not have ${from}`);
    this.write(name, before.replaceAll(from, to));
  }

  start(command, args, variables) {
    const { PATH, HOME, TMPDIR } = process.env;
    const env = { PATH, HOME, ...(TMPDIR && { TMPDIR }), CI: "1", ...variables };
    // In a group of its own, as a shell starts it.
    return spawn(command, args, { cwd: this.folder, env, detached: true });
  }

  vitest(args, variables) {
    return this.ended(this.start(this.path("node_modules/.bin/vitest"), ["run", ...args], variables));
  }

  retold(args, variables = {}) {
    return this.ended(this.start(this.path("node_modules/.bin/retold"), args, variables));
  }

  async ended(child) {
    child.stdin.end();
    const exit = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { ...(await exit), said: stripVTControlCharacters(out + err) };
  }
}

/** The variables with which the project asks a model. */
export function asking(model) {
  return {
    RETOLD: "record",
    OPENAI_BASE_URL: `${model.url}/v1`,
    OPENAI_API_KEY: "sk-real",
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "sk-real",
  };
}
