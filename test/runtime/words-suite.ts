/** What one process hears of what a model says in another, whatever keeps the sessions. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionWord } from '../../src/machines/words/session-word.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime } from '../../src/node.ts';
import { SPEAKER } from '../support/speaking-backend.ts';
import type { Setup, StoreUnderTest } from '../support/store-under-test.ts';

const HOST = fileURLToPath(new URL('../fixtures/processes/words-host.mjs', import.meta.url));
/** A process that dies over a database is missed after two polls. */
const MISSED = { timeout: 30_000 };
const PATIENCE = { timeout: 60_000 };

export function wordsBetweenProcesses(store: StoreUnderTest): void {
  let setup: Setup;
  let runtime: NodeRuntime;
  let sessionId: string;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    setup = await store.setup();
    runtime = await createNodeRuntime({ ...setup.place, ...store.lease });
    await runtime.agents.create({
      agentId: 'speaker',
      source: { frontmatter: { name: 'Speaker', ...SPEAKER }, instructions: '' },
    });
    ({ sessionId } = await runtime.sessions.create({ agentId: 'speaker' }));
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Tell me.' });
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await runtime.shutdown();
    await setup.remove();
  });

  /** Resolves once it speaks, or follows. */
  async function start(role: 'work' | 'wake' | 'follow'): Promise<ChildProcess> {
    const child = fork(HOST, [role, JSON.stringify({ ...setup.place, ...store.lease }), sessionId], {
      env: { ...process.env, TMPDIR: setup.place.home },
    });
    children.push(child);
    const died = once(child, 'exit').then(() => Promise.reject(new Error('the process has ended')));
    died.catch(() => undefined);
    await Promise.race([once(child, 'message'), died]);
    return child;
  }

  async function kill(child: ChildProcess): Promise<void> {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  function follow() {
    const words: SessionWord[] = [];
    const reading = (async () => {
      for await (const word of runtime.words(sessionId)) words.push(word);
    })();
    return { words, reading };
  }

  const textOf = (words: readonly SessionWord[]): string =>
    words.map((word) => (word.type === 'said' ? word.text : `<${word.type}>`)).join('');

  const messages = async (): Promise<string[]> => {
    const texts: string[] = [];
    for await (const { type, data } of runtime.sessions.events(sessionId))
      if (type === 'agent.message') texts.push(data.text);
    return texts;
  };

  describe('one who follows the words of a session', () => {
    it('hears each piece that a worker elsewhere says, in order, then where the log has it, until it is shut down', async () => {
      const { words, reading } = follow();
      const worker = await start('work');
      const exited = once(worker, 'exit');
      worker.send({ think: 'Hm. ' });
      const pieces = Array.from({ length: 200 }, (_, count) => `${count} `);
      for (const say of pieces) worker.send({ say });
      worker.send({ end: true });
      await exited;
      await expect.poll(() => words.at(-1)?.type, PATIENCE).toBe('logged');
      expect(words[0]).toMatchObject({ kind: 'reasoning' });
      expect(textOf(words.slice(0, -1))).toBe(`Hm. ${pieces.join('')}`);
      const logged = words.at(-1);
      const after = logged?.type === 'logged' ? logged.after : Infinity;
      for await (const event of runtime.sessions.events(sessionId, { from: after + 1 }))
        if (event.type === 'agent.message') expect(event.data.text).toBe(pieces.join(''));
      expect(await messages()).toEqual([pieces.join('')]);
      await runtime.shutdown();
      await reading;
    });

    it('begins in the middle of a step with what was said of it so far, also after it has left', async () => {
      const worker = await start('work');
      worker.send({ say: 'Once ' });
      const first = runtime.words(sessionId)[Symbol.asyncIterator]();
      expect((await first.next()).value).toEqual({ type: 'said', kind: 'text', text: 'Once ' });
      await first.return?.();
      worker.send({ say: 'upon' });
      const { words } = follow();
      // On a busy machine it may hear a piece before what came before it: that is taken back, and told from the beginning.
      const textSoFar = (): string => textOf(words.slice(words.findLastIndex(({ type }) => type === 'taken_back') + 1));
      await expect.poll(textSoFar, PATIENCE).toBe('Once upon');
    });

    it('is told that words come to nothing when the process that says them is killed, and hears the next one', async () => {
      const { words } = follow();
      const worker = await start('work');
      worker.send({ say: 'half' });
      await expect.poll(() => textOf(words), PATIENCE).toBe('half');
      await kill(worker);
      await expect.poll(() => textOf(words), MISSED).toBe('half<taken_back>');
      await store.forgetTheDead(setup.place, worker.pid);
      const next = await start('wake');
      next.send({ say: 'whole' });
      await expect.poll(() => textOf(words), PATIENCE).toBe('half<taken_back>whole');
    });

    it('disturbs no speaker when it is killed, and leaves nothing behind', async () => {
      const follower = await start('follow');
      const worker = await start('work');
      const exited = once(worker, 'exit');
      const heard = once(follower, 'message');
      worker.send({ say: 'one ' });
      expect((await heard)[0]).toMatchObject({ word: { type: 'said' } });
      await kill(follower);
      for (let count = 0; count < 50; count += 1) worker.send({ say: 'x'.repeat(10_000) });
      worker.send({ say: ' two' });
      worker.send({ end: true });
      expect((await exited)[0]).toBe(0);
      expect((await messages())[0]).toMatch(/^one x+ two$/);
      const folder = join(setup.place.home, 'agents/speaker/sessions', sessionId, 'runtime/lease');
      expect(await readdir(folder).catch(() => [])).toEqual([]);
    });
  });
}
