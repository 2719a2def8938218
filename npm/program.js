// Where the program `retold` is: in a package of its own for each platform, of which npm installs the one that fits.

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * The path of the program. `RETOLD_PROGRAM` names another one, for those who build it themselves.
 */
export function program() {
  if (process.env.RETOLD_PROGRAM) return process.env.RETOLD_PROGRAM;
  const platform = `${process.platform}-${process.arch}`;
  const name = `@retold/${platform}`;
  try {
    return require.resolve(`${name}/bin/${process.platform === "win32" ? "retold.exe" : "retold"}`);
  } catch {
    const isBuilt = name in require("./package.json").optionalDependencies;
    throw new Error(
      isBuilt
        ? `the package ${name}, which has the program retold, is not installed: run \`npm install\` on this system, ` +
          "without --omit=optional, or set RETOLD_PROGRAM to the path of the program" +
          (process.platform === "linux" ? ". It needs glibc, which Alpine Linux does not have" : "")
        : `there is no program retold for ${platform}: build it (\`cargo install --path crates/cli\` in retold's ` +
          "repository), and set RETOLD_PROGRAM to its path",
    );
  }
}
