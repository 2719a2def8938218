#!/usr/bin/env node
// Runs the program with our arguments, our terminal, the signals that we get, and its end as ours.

import { spawn } from "node:child_process";

import { program } from "../program.js";

const fail = (message) => {
  console.error(`error: ${message}`);
  process.exit(1);
};

let path;
try {
  path = program();
} catch (error) {
  fail(error.message);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`cannot start ${path}: ${error.message}`));

// A terminal sends these to the program as well, for which a second one means more than the first.
const isAtTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
for (const signal of ["SIGINT", "SIGQUIT", "SIGHUP"]) {
  process.on(signal, () => isAtTerminal || child.kill(signal));
}
process.on("SIGTERM", () => child.kill("SIGTERM"));

child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
