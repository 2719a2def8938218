import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { PACKAGES, Project } from "./project.js";

/** A program that says what it gets. */
const ECHO = `#!/usr/bin/env node
console.log(JSON.stringify(process.argv.slice(2)));
process.stdin.pipe(process.stderr);
const [, , code] = process.argv;
if (code === "kill") process.kill(process.pid, "SIGKILL");
if (code === "wait") {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => { console.log(signal); process.exit(9); });
  console.log("ready");
  setInterval(() => {}, 1000);
} else process.stdin.on("end", () => process.exit(Number(code)));
`;

function echo() {
  const project = new Project();
  project.write("echo.cjs", ECHO, 0o755);
  return { project, variables: { RETOLD_PROGRAM: project.path("echo.cjs") } };
}

test("the program gets arguments and input as they are, and its exit code is ours", async () => {
  const { project, variables } = echo();
  const args = ["7", "", "a b", "*", "--", "-x", "ü\n\"'$HOME"];
  const child = project.start(project.path("node_modules/.bin/retold"), args, variables);
  child.stdin.write("input");
  const { code, said } = await project.ended(child);
  assert.equal(code, 7);
  assert.equal(said, `${JSON.stringify(args)}\ninput`);
});

test("signals are passed on, and a program that dies of one takes us with it", async () => {
  const { project, variables } = echo();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    const child = project.start(project.path("node_modules/.bin/retold"), ["wait"], variables);
    let said = "";
    child.stdout.on("data", (text) => {
      said += text;
      if (said.endsWith("ready\n")) child.kill(signal);
    });
    assert.deepEqual(await once(child, "exit"), [9, null]);
    assert.match(said, new RegExp(`ready\\n${signal}\\n$`));
  }
  assert.equal((await project.retold(["kill"], variables)).signal, "SIGKILL");
});

test("the program of the platform's package is run", async () => {
  const project = new Project();
  const { code, said } = await project.retold(["--version"]);
  assert.equal(code, 0, said);
  assert.match(said, /^retold \d+\.\d+\.\d+\n$/);
});

test("a program that is not there is named, with what to do", async () => {
  const project = new Project();
  const alone = project.path("alone/@retold/retold");
  mkdirSync(alone, { recursive: true });
  cpSync(realpathSync(join(PACKAGES, "@retold/retold")), alone, { recursive: true });
  project.remove("node_modules");
  const said = async (variables) => {
    const run = await project.ended(project.start(join(alone, "bin/retold.js"), ["--version"], variables));
    assert.equal(run.code, 1);
    return run.said.trim();
  };
  const platform = `${process.platform}-${process.arch}`;
  assert.ok(
    (await said({})).startsWith(
      `error: the package @retold/${platform}, which has the program retold, is not installed: run \`npm install\` on ` +
        "this system, without --omit=optional, or set RETOLD_PROGRAM to the path of the program",
    ),
  );
  project.write("risc.cjs", 'Object.defineProperty(process, "arch", { value: "riscv64" });');
  assert.equal(
    await said({ NODE_OPTIONS: `--require ${project.path("risc.cjs")}` }),
    `error: there is no program retold for ${process.platform}-riscv64: build it (\`cargo install --path crates/cli\` ` +
      "in retold's repository), and set RETOLD_PROGRAM to its path",
  );
  assert.equal(await said({ RETOLD_PROGRAM: "/nowhere/retold" }), "error: cannot start /nowhere/retold: spawn /nowhere/retold ENOENT");
});

test("both packages have their licences, and the program those of what is linked into it", () => {
  const read = (name, file) => readFileSync(join(PACKAGES, "@retold", name, file), "utf8");
  const program = `${process.platform}-${process.arch}`;
  for (const name of ["retold", program])
    for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) assert.ok(read(name, licence).length > 500, name);
  const bill = JSON.parse(read(program, "sbom.cyclonedx.json"));
  const licences = read(program, "THIRD-PARTY-LICENSES.txt");
  assert.ok(bill.components.length > 100);
  for (const { name, version } of bill.components) assert.ok(licences.includes(`\n${name} ${version}: `), name);
});
