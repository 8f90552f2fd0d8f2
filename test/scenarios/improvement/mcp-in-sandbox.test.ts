/** A server of tools that runs in the sandbox of its session: it works, and finds neither the home nor a network. */
import { once } from 'node:events';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../../src/node.ts';
import { processesLeft } from '../../setup/processes-left.ts';
import { hasSandbox } from '../../support/sandbox.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { SECRET } from '../secrets/leaky-agent.ts';
import { logOf, ofType } from './learning-home.ts';
import { leaksIn, writeAgent, writeShutIn } from './shut-in-home.ts';

let folder: TemporaryHome;
let home: string;
let listener: Server;
let port: number;
let connections: number;
beforeEach(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'home');
  const tools = join(folder.path, 'tools');
  await mkdir(home, { mode: 0o700 });
  await mkdir(tools);
  await copyFile(
    fileURLToPath(new URL('../../fixtures/mcp/prying-server.mjs', import.meta.url)),
    join(tools, 'server.mjs'),
  );
  connections = 0;
  listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  ({ port } = listener.address() as AddressInfo);
});
afterEach(async () => {
  listener.close();
  await once(listener, 'close');
  await folder.remove();
});

/** What the server answers, call by call. */
async function answersOf(
  network: 'open' | 'disabled',
  calls: readonly { readonly name: string; readonly input: object }[],
): Promise<readonly string[]> {
  await writeShutIn(home, { network, mounts: [{ path: '/served', source: join(folder.path, 'tools') }] });
  const steps = [
    ...calls.map((call) => ({ toolCalls: [{ ...call, name: `prying__${call.name}` }] })),
    { text: 'Done.' },
  ];
  const server = { command: process.execPath, args: ['/served/server.mjs'], env: { TOKEN: { vault: 'github/token' } } };
  await writeAgent(
    home,
    'pryer',
    steps,
    `environment: shut\ntools: [{ mcp: prying }]\nmcp: ${JSON.stringify({ prying: server })}\n`,
  );
  await using runtime = await createNodeRuntime({ home });
  const { sessionId } = await runtime.sessions.create({ agentId: 'pryer' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Look around.' });
  expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep', summary: 'Done.' });
  const results = ofType(await logOf(runtime, sessionId), 'agent.tool_result');
  expect(results.map(({ data }) => data.outcome)).toEqual(calls.map(() => 'completed'));
  return results.map(({ data }) => (typeof data.output === 'string' ? data.output : JSON.stringify(data.output)));
}

describe.skipIf(!hasSandbox)('a server of tools in a session that is shut in', () => {
  it('works, cannot read the home or other folders of the machine, and reaches nothing without a network', async () => {
    await mkdir(join(folder.path, 'elsewhere'));
    await writeFile(join(folder.path, 'elsewhere', 'private.txt'), 'private words');
    const [check = '', ...seen] = await answersOf('disabled', [
      { name: 'check', input: {} },
      { name: 'list', input: { path: home } },
      { name: 'read', input: { path: join(home, 'vaults/github.yaml') } },
      { name: 'read', input: { path: join(folder.path, 'elsewhere/private.txt') } },
      { name: 'read', input: { path: `/proc/1/root${join(folder.path, 'elsewhere/private.txt')}` } },
      { name: 'write', input: { path: '/served/server.mjs', text: 'mine' } },
      { name: 'write', input: { path: '/workspace/made.txt', text: 'made by the server' } },
      { name: 'connect', input: { port } },
    ]);
    // It has what it was given, which nobody sees in the answer.
    expect(check).toContain('[redacted github/token]');
    expect(check).not.toContain(SECRET);
    const [listed, vault, elsewhere, around, readOnly, written, connected] = seen;
    // Of the home nothing is there but the way to the workspace.
    expect(listed).not.toMatch(/vaults|environments|policy|processes|task-logs/);
    for (const refused of [vault, elsewhere, around, readOnly, connected]) expect(refused).toContain('refused:');
    expect(written).toContain('written');
    expect(connections).toBe(0);
    expect(await workspaces()).toEqual([expect.arrayContaining(['made.txt'])]);
    expect(seen.join('\n')).not.toContain(SECRET);
    expect(await leaksIn(home)).toEqual([]);
    expect(processesLeft(folder.path)).toEqual([]);
  });

  it('reaches this machine where the environment leaves the network open', async () => {
    const [connected] = await answersOf('open', [{ name: 'connect', input: { port } }]);
    expect(connected).toContain('connected');
    expect(connections).toBe(1);
  });
});

async function workspaces(): Promise<readonly (readonly string[])[]> {
  const sessions = join(home, 'agents/pryer/sessions');
  return Promise.all((await readdir(sessions)).map((session) => readdir(join(sessions, session, 'workspace'))));
}
