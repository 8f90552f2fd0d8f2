import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import { isRunning } from '../process-tree/system-processes.ts';
import type { Note } from './acp-setup.ts';

const dist = new URL('../../../dist/', import.meta.url).href;
const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/acp-agents/${name}`, import.meta.url));

it('the agent of a host that was killed, its grandchild and its terminals are gone once the next host has reconciled', async () => {
  const home = await temporaryHome();
  const terminal = { create: { command: 'echo $$ > ../terminal.pid; trap "" TERM; sleep 1000' }, calls: [] };
  await writeFile(
    join(home.path, 'scenario.json'),
    JSON.stringify([{ deaf: true }, { grandchild: true }, { terminal }, { say: 'on' }, { hang: true }]),
  );
  const host = spawn(process.execPath, [fixture('host.mjs'), dist, home.path, fixture('agent.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(host, 'close');
  try {
    await once(createInterface(host.stdout), 'line');
    await expect
      .poll(() => readFileSync(join(home.path, 'terminal.pid'), { encoding: 'utf8' }), { timeout: 20_000 })
      .toMatch(/^\d+\n$/);
    const notes = readFileSync(join(home.path, 'notes.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Note);
    const pids = [
      notes[0]?.pid,
      notes.find(({ grandchild }) => grandchild !== undefined)?.grandchild,
      Number(readFileSync(join(home.path, 'terminal.pid'), 'utf8')),
    ].map(Number);
    host.kill('SIGKILL');
    await closed;
    expect(pids.map(isRunning)).toEqual([true, true, true]);
    const reports = await createProcessTree({
      clock: createSystemClock(),
      directory: join(home.path, 'processes'),
    }).reconcile({ graceMs: 100 });
    expect(reports).toMatchObject([
      { taskId: 'run run_1', action: 'killed' },
      { taskId: 'run run_1', action: 'killed' },
    ]);
    expect(pids.map(isRunning)).toEqual([false, false, false]);
  } finally {
    host.kill('SIGKILL');
    await closed;
    await home.remove();
  }
});

it('a host without the SDK loads nothing of it before the first run, and then says what to install', async () => {
  const home = await temporaryHome();
  try {
    const host = spawn(process.execPath, [fixture('without-sdk.mjs'), dist, home.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [[line]] = (await Promise.all([
      once(createInterface(host.stdout), 'line'),
      once(host, 'close'),
    ])) as unknown as [[string]];
    const { askedBefore, meta } = JSON.parse(line) as {
      readonly askedBefore: unknown;
      readonly meta: { readonly error: { readonly message: string } };
    };
    expect(askedBefore).toEqual([]);
    expect(meta.error.message).toContain('Install it beside wakechart: npm install @agentclientprotocol/sdk');
  } finally {
    await home.remove();
  }
});
