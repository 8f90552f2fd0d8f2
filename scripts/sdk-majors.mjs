/**
 * Runs the tests of the backend that asks models over HTTP against the provider packages of both majors of the AI SDK,
 * in the versions that test/programs/versions.json pins, on the oldest Node that is supported and on a new one.
 *
 * `node scripts/sdk-majors.mjs`. What cannot be had since the registry does not answer is said, and counted as skipped.
 * The packages of major 7 declare Node 22; that they run on Node 20 is a part of what is found out here.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const SDKS = ['sdk-6', 'sdk-7'];
const NODES = ['20', '24'];
const LIMIT_MS = 600_000;
const run = promisify(execFile);

/** What starts a Node of that major; undefined where it is not this one and cannot be had. @param {string} major */
async function nodeOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) return [process.execPath];
  const command = ['npx', '-y', '-p', `node@${major}`, 'node'];
  return run(command[0] ?? '', [...command.slice(1), '--version']).then(
    () => command,
    () => undefined,
  );
}

/** @param {string} sdk @param {string} major @param {readonly string[]} node @returns {Promise<boolean>} */
async function passes(sdk, major, [program = '', ...words]) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/programs/sdks.vitest.config.ts'];
  const options = { cwd: root, env: { ...process.env, AI_SDK: sdk }, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
  try {
    const { stdout } = await run(program, [...words, ...vitest], options);
    process.stdout.write(`${sdk} on Node ${major}: ${stdout.trim().split('\n').at(-1)}\n`);
    return true;
  } catch (error) {
    const { stdout = '', stderr = '', message } = /** @type {Error & { stdout?: string; stderr?: string }} */ (error);
    process.stderr.write(`${stdout}${stderr}\n${sdk} on Node ${major} fails: ${message.split('\n', 1)[0]}\n`);
    return false;
  }
}

await run(process.execPath, ['scripts/programs.mjs', ...SDKS], { cwd: root }).then(({ stdout, stderr }) => {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
});
const installed = SDKS.filter((sdk) => existsSync(`${root}/.build/programs/${sdk}`));
let skipped = (SDKS.length - installed.length) * NODES.length;
for (const major of NODES) {
  const node = await nodeOf(major);
  if (node === undefined) {
    process.stderr.write(`Node ${major} is missing, and the npm registry does not answer: its runs are skipped\n`);
    skipped += installed.length;
    continue;
  }
  const passed = await Promise.all(installed.map((sdk) => passes(sdk, major, node)));
  if (passed.includes(false)) process.exitCode = 1;
}
if (skipped > 0) process.stderr.write(`${skipped} of ${SDKS.length * NODES.length} runs were skipped\n`);
