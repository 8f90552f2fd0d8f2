/**
 * The modules that people give to `wakechart audit --module`: however they export their machines, and whatever else
 * they do.
 */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chartsOfModule } from '../../src/cli/audit/chart-module.ts';
import { run } from './command-line.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'modules-'));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function moduleOf(text: string, extension = 'mjs'): string {
  count += 1;
  const path = join(folder, `m${count}.${extension}`);
  writeFileSync(
    path,
    extension === 'cjs'
      ? `const { createMachine } = require('xstate');\n${text}`
      : `import { createMachine, createActor } from 'xstate';\n${text}`,
  );
  return path;
}

const DOOR = "createMachine({ id: 'door', initial: 'a', states: { a: { on: { X: 'b' } }, b: { type: 'final' } } })";
const GATE = DOOR.replace('door', 'gate');

async function idsOf(path: string): Promise<readonly string[]> {
  return (await chartsOfModule(path)).map(({ machine }) => machine.id);
}

describe('the machines of a module', () => {
  it.each([
    ['by name', `export const one = ${DOOR}; export const two = ${GATE};`, 'mjs', ['door', 'gate']],
    ['as the default', `export default ${DOOR};`, 'mjs', ['door']],
    ['twice', `export const one = ${DOOR}; export default one;`, 'mjs', ['door']],
    ['in a list', `export const all = [${DOOR}, ${GATE}];`, 'mjs', ['door', 'gate']],
    ['in an object', `export const all = { doors: { one: ${DOOR} }, gates: [${GATE}] };`, 'mjs', ['door', 'gate']],
    ['as a promise', `export const one = Promise.resolve(${DOOR});`, 'mjs', ['door']],
    ['from CommonJS, by name', `exports.one = ${DOOR};`, 'cjs', ['door']],
    ['from CommonJS, as a whole', `module.exports = ${DOOR};`, 'cjs', ['door']],
    ['from CommonJS, put together', `module.exports = Object.assign({}, { one: ${DOOR} });`, 'cjs', ['door']],
  ])('are found %s', async (_, text, extension, ids) => {
    expect(await idsOf(moduleOf(text, extension))).toEqual(ids);
  });

  it('are found in TypeScript, and in what that imports', async () => {
    const door = moduleOf(`export const one = ${DOOR};`, 'ts');
    const module = moduleOf(`export { one } from '${door.replace(/ts$/, 'js')}';\nexport const id: string = '';`, 'ts');
    const { code, stdout } = await run(['audit', '--module', module]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('door')]);
  });

  it('are found beside objects that lead to themselves', async () => {
    expect(await idsOf(moduleOf(`export const loop = {}; loop.self = loop; export const one = ${DOOR};`))).toEqual([
      'door',
    ]);
  });
});

describe('a module is refused', () => {
  it.each([
    [
      'that exports only functions, which are not called',
      `export const make = () => ${DOOR}; export class Door {}`,
      'MODULE_WITHOUT_CHARTS',
      'Door (a function or class), make (a function or class)',
    ],
    [
      'with two machines that have no id',
      `const m = () => createMachine({}); export const one = m(); export const two = m();`,
      'CHART_ID_TWICE',
      'more than one machine without an id',
    ],
    [
      'with a promise that fails',
      `export const one = Promise.reject(new Error('no\\nday'));`,
      'MODULE_FAILED',
      'could not be loaded: no day',
    ],
  ])('%s', async (_, text, code, says) => {
    await expect(chartsOfModule(moduleOf(text))).rejects.toMatchObject({
      code,
      message: expect.stringContaining(says) as string,
    });
  });

  it('that takes too long, though something goes on in it', async () => {
    const path = moduleOf(
      'globalThis.waits = setInterval(() => undefined, 1_000); export const one = await new Promise(() => undefined);',
    );
    try {
      await expect(chartsOfModule(path, { timeoutMs: 20 })).rejects.toMatchObject({
        code: 'MODULE_FAILED',
        message: expect.stringContaining('was not loaded within 0.02 s') as string,
      });
    } finally {
      clearInterval((globalThis as { waits?: NodeJS.Timeout }).waits);
    }
  });

  it('that is a folder', async () => {
    await expect(chartsOfModule(folder)).rejects.toMatchObject({
      code: 'MODULE_NOT_FOUND',
      message: expect.stringContaining('that is no file') as string,
    });
  });
});

describe('the program', () => {
  it.each([
    ['ends the process', `export const one = ${DOOR}; process.exit(0);`],
    ['waits for what never comes', `export const one = ${DOOR}; await new Promise(() => undefined);`],
  ])('does not take it for success when a module %s', async (_, text) => {
    expect(await run(['audit', '--module', moduleOf(text)])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(
        'ended the process while it was loaded, or waits for something that never comes [MODULE_FAILED]',
      ) as string,
    });
  });

  it('keeps what a module prints out of the answer for programs', async () => {
    const { code, stdout, stderr } = await run([
      'audit',
      '--json',
      '--module',
      moduleOf(
        `console.log('hello'); setInterval(() => undefined, 1_000); export const one = ${DOOR}; export const actor = createActor(one).start();`,
      ),
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'hello\n' });
    expect(JSON.parse(stdout)).toMatchObject({ audits: [{ chart: { id: 'door' } }] });
  });
});
