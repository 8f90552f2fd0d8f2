/** A worker that is killed in the middle of a call of a tool in code, and another worker whose code is newer. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { records, run, start, until } from './command-line.ts';
import type { Ended } from './command-line.ts';

const file = (url: string): string => JSON.stringify(fileURLToPath(new URL(url, import.meta.url)));

let folder: TemporaryHome;
beforeEach(async () => {
  folder = await temporaryHome();
});
afterEach(() => folder.remove());

const config = (version: string, answer: string): Promise<void> =>
  writeFile(
    join(folder.path, 'wakechart.config.mjs'),
    `
import { createAgentRuntime, defineAgent, defineTool } from ${file('../../dist/index.js')};
import { z } from ${JSON.stringify(fileURLToPath(import.meta.resolve('zod')))};
const backend = createAgentRuntime({
  id: 'mine',
  answer: async ({ messages = [] }, voice) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') voice.say('It is ' + last.content[0].output);
    else voice.call({ callId: 'c1', name: 'when', input: {} });
    return { meta: { modelSteps: 1 } };
  },
});
const when = defineTool({ name: 'when', input: z.object({}), idempotent: true, run: () => ${answer} });
export default {
  agents: [defineAgent({ id: 'clock', version: '${version}', model: 'mine/any', instructions: 'Say.', tools: [when] })],
  backends: [backend],
};
`,
  );

const at = (...words: readonly string[]): Promise<Ended> => run(words, { cwd: folder.path });

it('goes on under the new code, and the log says under which each wake ran', async () => {
  await config('1', 'new Promise((resolve) => setTimeout(resolve, 1e9))');
  const made = await at('session', 'create', '--agent', 'clock', '--json');
  const { sessionId: id } = JSON.parse(made.stdout) as { readonly sessionId: string };
  await at('session', 'send', '--session', id, '--message', 'When?');
  const worker = start(['worker'], { cwd: folder.path });
  const events = async (): Promise<readonly { readonly type: string; readonly data: Record<string, unknown> }[]> =>
    records((await at('session', 'events', '--session', id, '--json')).stdout) as never;
  await until('the call to begin', async () => (await events()).some(({ type }) => type === 'agent.tool_started'));
  worker.process.kill('SIGKILL');
  await worker.ended;
  await config('2', "'noon'");
  expect(await at('worker', '--until-idle')).toMatchObject({ code: 0 });
  const log = await events();
  expect(log.filter(({ type }) => type === 'wake.started').map(({ data }) => data['definition'])).toMatchObject([
    { version: '1' },
    { version: '2' },
  ]);
  expect(log.findLast(({ type }) => type === 'agent.message')?.data).toMatchObject({ text: 'It is noon' });
}, 60_000);
