/** The config of the working directory, as the command line loads it. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { run } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';

const file = (url: string): string => JSON.stringify(fileURLToPath(new URL(url, import.meta.url)));

let folder: TemporaryHome;
let number = 0;

beforeAll(async () => {
  folder = await temporaryHome();
});
afterAll(() => folder.remove());

const parrot = (version: string, says: string): string => `
import { createAgentRuntime, defineAgent, defineTool } from ${file('../../dist/index.js')};
import { defineConfig } from ${file('../../dist/node.js')};
import { z } from ${JSON.stringify(fileURLToPath(import.meta.resolve('zod')))};
console.log('a config says this');
const backend = createAgentRuntime({
  id: 'mine',
  answer: async ({ messages = [] }, voice) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') voice.say(${JSON.stringify(says)} + JSON.stringify(last.content[0].output));
    else voice.call({ callId: 'c' + messages.length, name: 'when', input: {} });
    return { meta: { modelSteps: 1 } };
  },
});
const when = defineTool({ name: 'when', input: z.object({}), run: () => 'noon' });
const clock = defineAgent({ id: 'clock', version: ${JSON.stringify(version)}, model: 'mine/any', instructions: 'Say when.', tools: [when] });
export default defineConfig({ agents: [clock], backends: [backend] });
`;

/** @returns the folder that it lies in */
async function config(text: string, name = 'wakechart.config.mjs'): Promise<string> {
  const place = join(folder.path, String(++number));
  await mkdir(place, { recursive: true });
  await writeFile(join(place, name), text);
  return place;
}

const at = (cwd: string, ...words: readonly string[]): Promise<Ended> => run(words, { cwd });

/** The same in this process, one after another: it has one working folder. */
async function here(cwd: string, ...words: readonly string[]): Promise<Ended> {
  const before = process.cwd();
  process.chdir(cwd);
  try {
    return await runInProcess([...words, '--home', join(cwd, '.wakechart')]);
  } finally {
    process.chdir(before);
  }
}

async function sessionIn(place: string): Promise<string> {
  const made = await at(place, 'session', 'create', '--agent', 'clock', '--json');
  expect(made.stderr).toBe('a config says this\n');
  return (JSON.parse(made.stdout) as { readonly sessionId: string }).sessionId;
}

describe.concurrent('a config in the working directory', () => {
  it('gives agents, tools and backends to every process that wakes; each version is in the log', async () => {
    const place = await config(parrot('1.0.0', 'One: '));
    const id = await sessionIn(place);
    await at(place, 'session', 'send', '--session', id, '--message', 'When?');
    expect(await at(place, 'worker', '--until-idle')).toMatchObject({ code: 0 });
    await writeFile(join(place, 'wakechart.config.mjs'), parrot('2.0.0', 'Two: '));
    await at(place, 'session', 'send', '--session', id, '--message', 'And now?');
    expect(await at(place, 'wake', '--session', id)).toMatchObject({ code: 0 });
    const { stdout } = await at(place, 'session', 'events', '--session', id);
    expect(stdout).toMatch(
      /wake\.started.*under definition 1\.0\.0 \([0-9a-f]{12}\)[\s\S]*One: "noon"[\s\S]*wake\.started.*under definition 2\.0\.0 \([0-9a-f]{12}\)[\s\S]*Two: "noon"/,
    );
    expect((await at(place, 'session', 'status', '--session', id)).stdout).toMatch(
      /definition +2\.0\.0 \([0-9a-f]{12}\)/,
    );
    expect((await at(place, 'agent', 'show', 'clock')).stdout).toMatch(/config +.*wakechart\.config\.mjs/);
  });

  it('is written in TypeScript, too', async () => {
    const place = await config(`const typed = 1 as number;\nvoid typed;\n${parrot('1', 'T')}`, 'wakechart.config.ts');
    expect((await at(place, 'agent', 'list')).stdout).toMatch(/clock +mine\/any/);
  });

  it('is named from elsewhere, by an option or a variable, or left alone', async () => {
    const place = await config(parrot('1', 'One: '));
    const elsewhere = await config('', 'nothing.txt');
    const named = join(place, 'wakechart.config.mjs');
    const listed = (await at(elsewhere, 'agent', 'list', '--config', named)).stdout;
    expect(listed).toContain('clock');
    expect((await run(['agent', 'list'], { cwd: elsewhere, env: { WAKECHART_CONFIG: named } })).stdout).toBe(listed);
    expect(await at(place, 'agent', 'list', '--config', 'none')).toMatchObject({ code: 0, stderr: '' });
    const lost = await at(place, 'session', 'create', '--agent', 'clock', '--config', 'none');
    expect(lost).toMatchObject({ code: 1, stderr: expect.stringContaining('[AGENT_NOT_FOUND]') as unknown });
  });

  it.each([
    [
      'waits for what never comes',
      'await new Promise(() => undefined);\n',
      'waits for something that never comes [CONFIG_FAILED]',
    ],
    ['is no JavaScript', 'export default {;\n', 'See where: node --check '],
  ])('that %s is told of', async (_what, text, message) => {
    const ended = await at(await config(text), 'agent', 'list');
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).not.toMatch(/^ {4}at /m);
  });
});

describe('a config in the working directory', () => {
  it('is not run by commands that work with no agent and no session', async () => {
    const place = await config('throw new Error("ran");\n');
    for (const words of [['explain', 'AGENT_NOT_FOUND'], ['--version'], ['agent', '--help'], ['vault', 'list']])
      expect(await here(place, ...words)).toMatchObject({ code: 0, stderr: '' });
    expect(await here(place, 'agent', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/wakechart\.config\.mjs:1:7 could not be loaded: ran \[CONFIG_FAILED\]/) as unknown,
    });
  });

  it('is not run when others could have written it, unless it is named', async () => {
    const place = await config('export default {};\n');
    const path = join(place, 'wakechart.config.mjs');
    await chmod(path, 0o666);
    expect(await here(place, 'agent', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /is not run: every user may change it \[CONFIG_EXPOSED\]\n {2}hint: If you trust it: --config /,
      ) as unknown,
    });
    expect((await here(place, 'agent', 'list', '--config', path)).code).toBe(0);
  });

  it.each<[string, string, string]>([
    ['is no config', 'export default { agentz: [] };\n', 'did you mean "agents"? [CONFIG_INVALID]'],
    ['is not there', '', '[CONFIG_NOT_FOUND]'],
  ])('that %s is told of', async (_what, text, message) => {
    const place = await config(text);
    const missing = text === '' ? ['--config', 'nowhere.mjs'] : [];
    const ended = await here(place, 'agent', 'list', ...missing);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).not.toMatch(/^ {4}at /m);
  });

  it('says which store holds the sessions, where the command does not', async () => {
    const place = await config(
      'export default { store: { postgres: "postgres://nobody@127.0.0.1:1/none", patienceMs: 1 } };\n',
    );
    const away = await here(place, 'session', 'list');
    expect(away.code).toBe(1);
    expect(away.stderr).toMatch(/127\.0\.0\.1:1|STORAGE_FAILED/);
    expect(await here(place, 'session', 'list', '--store', 'files')).toMatchObject({ code: 0 });
  });
});
