/** What a process that is killed in the middle of a wake leaves, and what the next one makes of it. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import type { Runtime } from '../../src/runtime.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { codeOf } from '../contracts/event-store.contract.ts';
import type { Setup, StoreUnderTest } from '../support/store-under-test.ts';

const NODE_ENTRY = fileURLToPath(new URL('../../dist/node.js', import.meta.url));

const dataOf = (events: readonly SessionEvent[], type: SessionEvent['type']): unknown[] =>
  events.filter((event) => event.type === type).map(({ data }) => data);

export function crashes(store: StoreUnderTest): void {
  let setup: Setup;
  let runtime: Runtime;
  const children: ChildProcess[] = [];
  const fileOf = (name: string): string => join(setup.place.home, name);
  const workspaceFile = (sessionId: string, name: string): string =>
    fileOf(`agents/player/sessions/${sessionId}/workspace/${name}`);

  beforeEach(async () => {
    setup = await store.setup();
    runtime = await createNodeRuntime({ ...setup.place, ...store.lease });
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await runtime.shutdown();
    await setup.remove();
  });

  async function session(steps: readonly object[]): Promise<string> {
    await runtime.agents.create({
      agentId: 'player',
      source: { frontmatter: { name: 'Player', provider: 'script', model: 'play.json' }, instructions: '' },
    });
    await writeFile(fileOf('agents/player/play.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
    const { sessionId } = await runtime.sessions.create({ agentId: 'player' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
    return sessionId;
  }

  /** A process of its own that wakes the session. */
  function wakeElsewhere(sessionId: string): ChildProcess {
    const script = `
      const { createNodeRuntime } = await import(${JSON.stringify(NODE_ENTRY)});
      const runtime = await createNodeRuntime(${JSON.stringify({ ...setup.place, ...store.lease })});
      await runtime.wake(${JSON.stringify(sessionId)});
      await runtime.shutdown();`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, TMPDIR: setup.place.home },
    });
    children.push(child);
    return child;
  }

  async function killAt(
    child: ChildProcess,
    sessionId: string,
    isThere: (event: SessionEvent) => boolean | Promise<boolean>,
  ): Promise<void> {
    const exited = once(child, 'exit');
    for await (const event of runtime.sessions.events(sessionId, { follow: true })) if (await isThere(event)) break;
    child.kill('SIGKILL');
    await exited;
    await store.forgetTheDead(setup.place, child.pid);
  }

  const log = async (sessionId: string): Promise<SessionEvent[]> => {
    const events: SessionEvent[] = [];
    for await (const event of runtime.sessions.events(sessionId)) events.push(event);
    return events;
  };

  describe(`after a process over ${store.name} was killed in the middle of a wake`, () => {
    it('in a tool call, the call is not run again, the model is told, and its process is gone', async () => {
      const id = await session([
        { toolCalls: [{ name: 'shell_run', input: { command: 'echo started >> runs; exec sleep 300' } }] },
        { text: 'Understood.', expect: { lastToolResultOutcome: 'unknown' } },
      ]);
      const runs = workspaceFile(id, 'runs');
      const child = wakeElsewhere(id);
      await killAt(child, id, async ({ type }) => {
        if (type !== 'agent.tool_use') return false;
        // The command has begun when it has written.
        while ((await readFile(runs, 'utf8').catch(() => '')) === '')
          await new Promise((resolve) => setTimeout(resolve, 5));
        return true;
      });
      expect(await runtime.sessions.get(id)).toMatchObject({
        status: 'running',
        openToolCalls: [{ name: 'shell_run' }],
      });

      const { processTrees } = await runtime.reconcile();
      expect(processTrees).toMatchObject([{ action: 'killed' }]);
      expect(await store.takeOver(runtime, id)).toMatchObject({
        outcome: 'sleep',
        summary: 'Understood.',
        epoch: 2,
        modelSteps: 1,
      });
      expect(await readFile(runs, 'utf8')).toBe('started\n');
      const events = await log(id);
      expect(dataOf(events, 'wake.ended')).toMatchObject([{ outcome: 'lost' }, { outcome: 'sleep' }]);
      expect(dataOf(events, 'agent.tool_result')).toMatchObject([{ outcome: 'unknown' }]);
      expect(await runtime.sessions.get(id)).toMatchObject({ status: 'idle', openToolCalls: [], pending: [] });
    });

    it('in a tool call, a runtime that lived all the time ends its command before it takes the session over', async () => {
      const id = await session([
        { toolCalls: [{ name: 'shell_run', input: { command: 'echo $$ > pid; exec sleep 300' } }] },
        {
          toolCalls: [
            { name: 'shell_run', input: { command: 'cut -d" " -f3 "/proc/$(cat pid)/stat" 2>/dev/null || echo gone' } },
          ],
        },
        {
          text: 'Alone.',
          expect: { lastToolResultIncludes: 'output: ', lastToolResultExcludes: ['output: S', 'output: R'] },
        },
      ]);
      const pidFile = workspaceFile(id, 'pid');
      await killAt(wakeElsewhere(id), id, async ({ type }) => {
        if (type !== 'agent.tool_use') return false;
        while (!(await readFile(pidFile, 'utf8').catch(() => '')).endsWith('\n'))
          await new Promise((resolve) => setTimeout(resolve, 5));
        return true;
      });
      expect(await store.takeOver(runtime, id)).toMatchObject({ outcome: 'sleep', summary: 'Alone.', epoch: 2 });
      expect((await runtime.reconcile()).processTrees).toEqual([]);
    });

    it('in a model step, the message is still there and the step is taken', async () => {
      const id = await session([{ text: 'Slow.', delayMs: 60_000 }]);
      await killAt(wakeElsewhere(id), id, ({ type }) => type === 'span.started');
      await writeFile(
        fileOf('agents/player/play.json'),
        JSON.stringify({
          format: 'wakechart-script/1',
          steps: [{ text: 'Quick.', expect: { lastUserMessageIncludes: 'Go' } }],
        }),
      );
      expect(await store.takeOver(runtime, id)).toMatchObject({ outcome: 'sleep', summary: 'Quick.', epoch: 2 });
      expect(dataOf(await log(id), 'span.completed')).toMatchObject([
        { outcome: 'lost', modelSteps: 0 },
        { outcome: 'completed', modelSteps: 1 },
      ]);
    });

    it('at whatever event, the next wake brings the session to rest with every message read and no call run twice', async () => {
      const steps = [
        {
          text: 'One.',
          toolCalls: [
            { name: 'shell_run', input: { command: 'echo a >> runs' } },
            { name: 'shell_run', input: { command: 'echo b >> runs' } },
          ],
        },
        {
          text: 'Two.',
          directive: { outcome: 'sleep', summary: 'Both ran.', queuedWakes: [{ reason: 'later', delaySeconds: 3600 }] },
        },
      ];
      const id = await session(steps);
      for (const stopAt of [
        'wake.started',
        'span.started',
        'agent.tool_use',
        'agent.tool_result',
        'directive.accepted',
        'wake.ended',
      ] as const) {
        const { sessionId } =
          stopAt === 'wake.started' ? { sessionId: id } : await runtime.sessions.create({ agentId: 'player' });
        if (sessionId !== id) await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
        await killAt(wakeElsewhere(sessionId), sessionId, ({ type }) => type === stopAt);
        // What the dead process may have had under way is either in the log by now or never will be.
        await runtime.reconcile();
        await store.takeOver(runtime, sessionId);
        const state = await runtime.sessions.get(sessionId);
        expect({ stopAt, ...state }).toMatchObject({
          stopAt,
          status: 'idle',
          pending: [],
          openToolCalls: [],
          openDirectives: [],
          queuedWakes: [{ reason: 'later' }],
        });
        const runs = (await readFile(workspaceFile(sessionId, 'runs'), 'utf8').catch(() => ''))
          .split('\n')
          .filter((line) => line !== '');
        expect({ stopAt, runs: [...new Set(runs)] }).toEqual({ stopAt, runs });
        const events = await log(sessionId);
        expect(dataOf(events, 'agent.tool_use')).toHaveLength(dataOf(events, 'agent.tool_result').length);
        expect(dataOf(events, 'wake.started')).toHaveLength(dataOf(events, 'wake.ended').length);
      }
    });

    it('nobody is kept waiting by its right to wake', async () => {
      const id = await session([{ text: 'x', delayMs: 60_000 }]);
      const child = wakeElsewhere(id);
      await killAt(child, id, async ({ type }) => {
        if (type !== 'span.started') return false;
        expect(await codeOf(runtime.wake(id))).toBe('WAKE_CONFLICT');
        return true;
      });
      await writeFile(
        fileOf('agents/player/play.json'),
        JSON.stringify({ format: 'wakechart-script/1', steps: [{ text: 'Now.' }] }),
      );
      expect(await store.takeOver(runtime, id)).toMatchObject({ outcome: 'sleep' });
    });
  });
}
