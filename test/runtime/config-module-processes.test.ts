import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime, NodeRuntimeOptions } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

const dist = (name: string): string => JSON.stringify(fileURLToPath(new URL(`../../dist/${name}`, import.meta.url)));
const index = dist('index.js');
const node = dist('node.js');

let home: TemporaryHome;
const opened: NodeRuntime[] = [];
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((runtime) => runtime.shutdown()));
  await home.remove();
});

const open = async (options: NodeRuntimeOptions): Promise<NodeRuntime> => {
  const runtime = await createNodeRuntime({ home: join(home.path, 'home'), ...options });
  opened.push(runtime);
  return runtime;
};

/** @returns its path */
async function config(text: string, name = 'wakechart.config.mjs'): Promise<string> {
  const path = join(home.path, name);
  await mkdir(home.path, { recursive: true });
  await writeFile(path, text);
  return path;
}

/** A backend that calls `where` once and then says what it answered, and a tool that says in which process it runs. */
const WHERE = `
import { createAgentRuntime, defineAgent, defineTool } from ${index};
import { defineConfig } from ${node};
const backend = createAgentRuntime({
  id: 'mine',
  answer: async ({ messages = [], tools = [] }, voice) => {
    const result = messages.findLast(({ role }) => role === 'tool');
    if (result !== undefined) voice.say('pid ' + JSON.stringify(result.content[0].output).match(/\\d+/)[0]);
    else if (tools.some(({ name }) => name === 'helper')) voice.call({ callId: 'h1', name: 'helper', input: { message: 'Go' } });
    else voice.call({ callId: 'w1', name: 'where', input: {} });
    return { meta: { modelSteps: 1 } };
  },
});
`;

const BODY = `
const where = defineTool({ name: 'where', input: z.object({}), run: () => ({ pid: process.pid }) });
const helper = defineAgent({ id: 'helper', version: '3', model: 'mine/any', instructions: 'Say where.', tools: [where] });
const lead = defineAgent({ id: 'lead', model: 'mine/any', instructions: 'Ask.', tools: [{ agent: 'helper', run: 'process' }] });
export default defineConfig({ agents: [helper, lead], backends: [backend] });
`;

const ZOD = `import { z } from ${JSON.stringify(fileURLToPath(import.meta.resolve('zod')))};\n`;

async function said(runtime: NodeRuntime, agentId: string): Promise<string> {
  const { sessionId } = await runtime.sessions.create({ agentId });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
  return (await runtime.wake(sessionId)).summary;
}

describe('a config module', () => {
  it.each(['a path', 'a URL'])('gives a runtime its agents, tools and backends, by %s', async (how) => {
    const path = await config(`${ZOD}${WHERE}${BODY}`);
    const runtime = await open({ config: how === 'a path' ? path : pathToFileURL(path) });
    expect(await said(runtime, 'helper')).toBe(`pid ${process.pid}`);
  });

  it.each(['wakechart.config.mjs', 'wakechart.config.ts'])(
    'gives the same to the processes that the runtime starts: a subagent has its agent and its tool, by %s',
    async (name) => {
      const typed = name.endsWith('.ts') ? 'const typed: number = process.pid as number;\nvoid typed;\n' : '';
      const runtime = await open({ config: await config(`${ZOD}${WHERE}${typed}${BODY}`, name) });
      const answer = await said(runtime, 'lead');
      expect(answer).toMatch(/^pid \d+$/);
      expect(answer).not.toBe(`pid ${process.pid}`);
      const child = (await runtime.sessions.list()).find(({ agentId }) => agentId === 'helper');
      expect(child?.lastWake?.definition).toMatchObject({ version: '3' });
    },
  );

  it('that such a process cannot load fails the call that waits for it, and the model reads why', async () => {
    const path = await config(`${ZOD}${WHERE}${BODY}`);
    const runtime = await open({ config: path });
    await writeFile(path, 'throw new Error("no such variable");\n');
    const { sessionId } = await runtime.sessions.create({ agentId: 'lead' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
    await runtime.wake(sessionId).catch(() => undefined);
    const results: unknown[] = [];
    for await (const { type, data } of runtime.sessions.events(sessionId))
      if (type === 'agent.tool_result') results.push(data);
    expect(results).toMatchObject([{ outcome: 'failed' }]);
    expect(JSON.stringify(results)).toContain('could not be loaded: no such variable');
  });

  it('and what a program gives besides go together; what is in both is there once', async () => {
    const path = await config(`${ZOD}${WHERE}${BODY}`);
    const { default: same } = (await import(pathToFileURL(path).href)) as { readonly default: NodeRuntimeOptions };
    const runtime = await open({ config: path, ...same, environment: 'host' });
    expect((await runtime.agents.list()).map(({ agentId }) => agentId)).toEqual(['helper', 'lead']);
  });

  it.each<[string, string, string, RegExp]>([
    [
      'that cannot be read',
      'export default {\n  agents: [}\n',
      'CONFIG_FAILED',
      /wakechart\.config\.mjs.* could not be loaded: /,
    ],
    [
      'that throws',
      '\nthrow new Error("no such variable");\n',
      'CONFIG_FAILED',
      /wakechart\.config\.mjs:2:\d+ could not be loaded: no such variable/,
    ],
    [
      'that imports what is not there',
      'import "./nowhere.mjs";\n',
      'CONFIG_FAILED',
      /could not be loaded: Cannot find module .*nowhere\.mjs/,
    ],
    [
      'without a default export',
      'export const config = {};\n',
      'CONFIG_INVALID',
      /expected .*wakechart\.config\.mjs to have a default export; it exports config/,
    ],
    [
      'that exports something else',
      'export default 7;\n',
      'CONFIG_INVALID',
      /the default export of .*wakechart\.config\.mjs is not valid: expected object, received number/,
    ],
    [
      'with a misspelt key',
      'export default { agent: [] };\n',
      'CONFIG_INVALID',
      /unknown options: agent; did you mean "agents"\?/,
    ],
    [
      'with what only a process can say',
      'export default { home: "x" };\n',
      'CONFIG_INVALID',
      /unknown options: home; the known ones are agents, tools/,
    ],
    [
      'with an agent that was not defined',
      'export default { agents: [{ id: "a" }] };\n',
      'CONFIG_INVALID',
      /agents\[0\]: expected an agent as defineAgent/,
    ],
  ])('is refused %s', async (_what, text, code, message) => {
    const path = await config(text);
    await expect(open({ config: path })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as unknown,
      hint: expect.any(String) as unknown,
    });
  });

  it('says what is wrong with an agent in it, in which file', async () => {
    const path = await config(
      `import { defineAgent } from ${index};\nexport default { agents: [defineAgent({ id: 'a', model: 'x' })] };\n`,
    );
    await expect(open({ config: path })).rejects.toMatchObject({
      code: 'CONFIG_FAILED',
      message: expect.stringMatching(
        /wakechart\.config\.mjs:2:\d+ could not be loaded: agent "a" is not valid: .*instructions.*\[AGENT_INVALID\]/,
      ) as unknown,
    });
  });

  it('has to be there', async () => {
    const path = join(home.path, 'nowhere.config.ts');
    await expect(open({ config: path })).rejects.toMatchObject({
      code: 'CONFIG_NOT_FOUND',
      message: `expected a config at ${path}; there is no such file`,
    });
    await expect(open({ config: 'file://elsewhere/x.ts' })).rejects.toMatchObject({ code: 'CONFIG_NOT_FOUND' });
  });
});
