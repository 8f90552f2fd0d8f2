import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import { ProtocolStage, runs, says } from '../support/protocol-stage.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import { program } from './command-line.ts';
import { isAlive, pidsIn } from './processes.ts';

let stage: ProtocolStage;
let pids: string;

beforeAll(async () => {
  stage = await ProtocolStage.open({ worker: false });
  pids = join(stage.home, 'pids');
  await stage.agent('greeter', [runs('echo hello > here.txt', 'I greet.'), says('Greeted.')]);
  await stage.agent('slow', [runs(`echo $$ >> ${pids}; exec sleep 300`), says('Woke.')]);
});
afterAll(async () => {
  await stage.close();
});

interface Connected {
  readonly client: Client;
  readonly pid: number;
  call(name: string, input?: Record<string, unknown>): Promise<Record<string, unknown>>;
}

/** A client in another process than its server. */
async function mcp(...words: readonly string[]): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'serve', 'mcp', '--home', stage.home, ...words],
    env: { ...(process.env as Record<string, string>), TMPDIR: stage.home },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '0' }, { capabilities: {} });
  await client.connect(transport);
  return {
    client,
    pid: transport.pid ?? 0,
    async call(name, args = {}) {
      const { structuredContent } = (await client.callTool({ name, arguments: args })) as CallToolResult;
      return structuredContent ?? {};
    },
  };
}

describe('wakechart serve mcp', () => {
  it('ends with its client, with all that it runs; its sessions stay, and the next server goes on with them', async () => {
    const one = await mcp();
    const { turn, session } = await one.call('session_start', { agent: 'slow', message: 'Go', waitSeconds: 0 });
    await expect.poll(() => pidsIn(pids).length).toBe(1);
    await one.client.close();
    await expect.poll(() => isAlive(one.pid)).toBe(false);
    expect(pidsIn(pids).filter(isAlive)).toEqual([]);
    const other = await mcp();
    expect(await other.call('session_wait', { turn, waitSeconds: 25 })).toMatchObject({ state: 'completed' });
    expect(await other.call('session_send', { session, message: 'And?' })).toMatchObject({ state: 'completed' });
    await other.client.close();
  });

  it('that was killed has lost nothing: another one, at the same home, knows the turn and goes on with it', async () => {
    const before = pidsIn(pids).length;
    const one = await mcp();
    const two = await mcp('--no-worker');
    const { turn, session } = await one.call('session_start', { agent: 'slow', message: 'Go', waitSeconds: 0 });
    await expect.poll(() => pidsIn(pids).length).toBe(before + 1);
    process.kill(one.pid, 'SIGKILL');
    await one.client.close();
    expect(await two.call('session_wait', { turn, waitSeconds: 0 })).toMatchObject({ session, state: 'working' });
    const three = await mcp();
    expect(await two.call('session_wait', { turn, waitSeconds: 25 })).toMatchObject({ state: 'completed' });
    expect(pidsIn(pids).filter(isAlive)).toEqual([]);
    await two.client.close();
    await three.client.close();
  });
});

describe('wakechart serve acp', () => {
  it('is an agent for our own backend: a session of ours works through a session of ours', async () => {
    const outer = await temporaryHome();
    const args = [program, 'serve', 'acp', '--home', stage.home, '--agent', 'greeter'];
    const providers = { inner: { backend: 'acp', program: { command: process.execPath, args } } };
    await writeFile(join(outer.path, 'providers.yaml'), JSON.stringify(providers), { mode: 0o600 });
    const runtime = await createNodeRuntime({ home: outer.path });
    try {
      const frontmatter = { name: 'outer', provider: 'inner', model: 'default' };
      await runtime.agents.create({ agentId: 'outer', source: { frontmatter, instructions: 'Go on.' } });
      const { sessionId } = await runtime.sessions.create({ agentId: 'outer' });
      await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Hi' });
      expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep', status: 'idle' });
      const said: string[] = [];
      for await (const { type, data } of runtime.sessions.events(sessionId))
        if (type === 'agent.message' || type === 'agent.tool_use') said.push('text' in data ? data.text : data.name);
      expect(said.join(' ')).toMatch(/I greet\. \w+ Greeted\./);
    } finally {
      await runtime.shutdown();
      await outer.remove();
    }
  });
});
