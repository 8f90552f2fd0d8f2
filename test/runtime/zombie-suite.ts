/**
 * A process that is stopped beyond its lease and goes on later: what it then writes changes nothing, and nothing of it
 * starts again.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../src/actors/turn/tool.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { Runtime } from '../../src/runtime.ts';
import { codeOf } from '../contracts/event-store.contract.ts';
import type { Setup, StoreUnderTest } from '../support/store-under-test.ts';

const HOST = fileURLToPath(new URL('../fixtures/processes/zombie-host.mjs', import.meta.url));
const DIST = new URL('../../dist/', import.meta.url).href;
const LEASE_MS = 400;

/** Somebody else has it; with a lease on a clock of its own, its time may be over before it hears by whom. */
const LOST = { files: /^(WAKE|EPOCH)_SUPERSEDED$/, postgres: /^(WAKE|EPOCH)_SUPERSEDED$|^WAKE_LEASE_EXPIRED$/ };

const hold: Tool = {
  definition: {
    name: 'hold',
    description: 'Waits.',
    inputSchema: z.object({}),
    ownership: 'custom',
    permissionPolicy: 'always_allow',
    readOnly: false,
    destructive: false,
    interruptBehavior: 'cancel',
  },
  run: () => Promise.reject(new Error('it must not run here')),
};

export function zombies(store: StoreUnderTest): void {
  let setup: Setup;
  let runtime: Runtime;
  let zombie: ChildProcess;
  let sessionId: string;
  const fileOf = (name: string): string => join(setup.place.home, name);

  beforeEach(async () => {
    setup = await store.setup();
    const { place } = setup;
    runtime = await createNodeRuntime({ ...place, leaseMs: LEASE_MS, tools: [hold] });
    await runtime.agents.create({
      agentId: 'player',
      source: { frontmatter: { name: 'Player', provider: 'script', model: 'play.json' }, instructions: '' },
    });
    const steps = [
      { text: 'I hold.', toolCalls: [{ name: 'hold', input: {} }] },
      { text: 'I know that it is unknown.', expect: { lastToolResultOutcome: 'unknown' } },
    ];
    await writeFile(fileOf('agents/player/play.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
    ({ sessionId } = await runtime.sessions.create({ agentId: 'player' }));
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
    zombie = spawn(process.execPath, [HOST, JSON.stringify({ ...place, dist: DIST, sessionId, leaseMs: LEASE_MS })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await during(async () => (await readFile(fileOf('held'), 'utf8').catch(() => '')) !== '');
  });
  afterEach(async () => {
    if (zombie.exitCode === null && zombie.signalCode === null) {
      zombie.kill('SIGKILL');
      await once(zombie, 'exit');
    }
    await runtime.shutdown();
    await setup.remove();
  });

  describe(`a process over ${store.name} that was stopped in the middle of a wake`, () => {
    it('keeps the session while it lives', async () => {
      expect(await codeOf(runtime.wake(sessionId))).toBe('WAKE_CONFLICT');
    });

    it('loses it when it gives no sign of life for the length of a lease, and what it writes later counts for nobody', async () => {
      zombie.kill('SIGSTOP');
      expect(await store.takeOver(runtime, sessionId)).toMatchObject({
        outcome: 'sleep',
        summary: 'I know that it is unknown.',
      });
      const before = await logOf(runtime, sessionId);
      await writeFile(fileOf('go'), '');
      const said = text(zombie.stdout ?? process.stdin);
      zombie.kill('SIGCONT');
      await once(zombie, 'exit');
      expect(JSON.parse(await said)).toEqual({ code: expect.stringMatching(LOST[store.name]) });
      expect(await logOf(runtime, sessionId)).toEqual(before);
      // Whoever reads all of it anew, from where it is kept, comes to the same.
      await using reader = await createNodeRuntime(setup.place);
      expect(await reader.sessions.status(sessionId)).toEqual(await runtime.sessions.status(sessionId));
      expect(await readFile(fileOf('held'), 'utf8')).toBe('x');
    });

    it('is interrupted from outside, and then ends as it was told', async () => {
      // It may hear of it, and end, before we are told that it is stored.
      const said = text(zombie.stdout ?? process.stdin);
      const ended = once(zombie, 'exit');
      await runtime.sessions.interrupt(sessionId, { reason: 'enough' });
      await ended;
      expect(JSON.parse(await said)).toEqual({ outcome: 'interrupted' });
      expect(await runtime.sessions.status(sessionId)).toMatchObject({
        status: 'idle',
        openToolCalls: [],
        pending: [],
      });
    });
  });
}

async function logOf(runtime: Runtime, sessionId: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of runtime.sessions.events(sessionId)) events.push(event);
  return events;
}

async function during(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 5));
}
