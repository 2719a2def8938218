// The process that records or replays. It ends with this one, also after `kill -9`, because it reads from a pipe whose
// other end only this process has.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { failure } from "./failure.js";
import { program } from "./program.js";

/** A process `retold record --stdio` or `retold replay --stdio`. */
export class Server {
  /**
   * Starts it, and waits until it listens.
   *
   * @param {string[]} args
   */
  static async start(args) {
    const server = new Server(args);
    server.greeting = await server.#message();
    return server;
  }

  #process;
  #lines;
  #ended;
  #said = "";

  constructor(args) {
    // Ctrl-C is for the tests, which end it.
    const options = { detached: process.platform !== "win32", windowsHide: true };
    this.#process = spawn(program(), args, options);
    const { stdin, stdout, stderr } = this.#process;
    this.#ended = new Promise((resolve) => {
      this.#process.on("close", resolve);
      this.#process.on("error", (error) => {
        this.#said += `cannot start ${program()}: ${error.message}`;
        resolve();
      });
    });
    // It has ended already, and says why.
    stdin.on("error", () => {});
    stderr.on("data", (text) => (this.#said += text));
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    // Tests that are at their end do not wait for it.
    for (const held of [this.#process, stdin, stdout, stderr]) held.unref?.();
  }

  /** Says that the program has ended, and returns what happened. */
  async end(exitCode) {
    this.#process.stdin.end(`${JSON.stringify({ exit_code: exitCode })}\n`);
    const summary = await this.#message();
    await this.#ended;
    return summary;
  }

  async #message() {
    const { value } = await this.#lines.next();
    if (value !== undefined) return JSON.parse(value);
    await this.#ended;
    throw failure(this.#said.trim().replace(/^error: /, "") || "retold ended and said nothing");
  }
}
