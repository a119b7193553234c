#!/usr/bin/env node
// Starts the binary of the package for this machine, which npm installed beside this one.
"use strict";
const { spawn } = require("node:child_process");

const part = `@almanack/${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${part}/almanack`);
} catch {
  console.error(`error: no package of almanack for this machine: ${part} is missing`);
  console.error("hint: install with optional dependencies, or build from source with cargo");
  process.exit(1);
}
const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to both; this process waits for what the node does about it.
process.on("SIGINT", () => {});
const pass = (signal) => child.kill(signal);
process.on("SIGTERM", pass);
process.on("SIGHUP", pass);
child.on("error", (error) => {
  console.error(`error: start ${binary}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
