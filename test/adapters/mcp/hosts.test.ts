import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import { isRunning } from '../process-tree/system-processes.ts';
import { fixture } from './mcp-setup.ts';

const dist = new URL('../../../dist/', import.meta.url).href;

it('the server of a host that was killed, and what it started, is gone once the next host has reconciled', async () => {
  const home = await temporaryHome();
  const host = spawn(process.execPath, [fixture('host.mjs'), dist, home.path, fixture('stdio-server.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(host, 'close');
  try {
    const [line] = (await once(createInterface(host.stdout), 'line')) as [string];
    const { server, grandchild } = JSON.parse(line) as { server: number; grandchild: number };
    host.kill('SIGKILL');
    await closed;
    expect([server, grandchild].map(isRunning)).toEqual([true, true]);
    const reports = await createProcessTree({
      clock: createSystemClock(),
      directory: join(home.path, 'processes'),
    }).reconcile({ graceMs: 100 });
    expect(reports).toMatchObject([{ taskId: 'mcp:a:s', action: 'killed' }]);
    expect([server, grandchild].map(isRunning)).toEqual([false, false]);
  } finally {
    host.kill('SIGKILL');
    await closed;
    await home.remove();
  }
});

it('a host without the SDK loads nothing of it before a server is needed, and then says what to install', async () => {
  const home = await temporaryHome();
  try {
    const host = spawn(process.execPath, [fixture('without-sdk.mjs'), dist, home.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [[line]] = (await Promise.all([
      once(createInterface(host.stdout), 'line'),
      once(host, 'close'),
    ])) as unknown as [[string]];
    expect(JSON.parse(line)).toMatchObject({
      askedBefore: [],
      error: {
        code: 'MCP_SDK_MISSING',
        hint: expect.stringContaining('npm install @modelcontextprotocol/sdk') as string,
      },
    });
  } finally {
    await home.remove();
  }
});
