/**
 * Sessions that learn, as whole wakes over real stores: what is kept, what gets into the memory, what is refused, and
 * what the next session is told.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryHookSource } from '../../../src/actors/memory/memory-hook-source.ts';
import type { Said } from '../../support/turn-setup.ts';
import { AGENT, call, openLearningSessions } from './learning-sessions.ts';
import type { LearningSessions } from './learning-sessions.ts';

let at: LearningSessions;
beforeEach(async () => {
  at = await openLearningSessions();
});
afterEach(() => at[Symbol.asyncDispose]());

const LEARNING = { kind: 'lesson', title: 'Use CI=true', detail: 'The tests wait, else.', promoteToMemory: true };
const captures: Said = call('learning_capture', LEARNING);
const learns = (...learnings: readonly object[]): Said => ({
  text: `\`\`\`wakechart-directive\n${JSON.stringify({ outcome: 'sleep', summary: 'Done.', learnings })}\n\`\`\``,
});

describe('what a session learns', () => {
  it('is kept for all sessions, and counted when it is learned again', async () => {
    const id = await at.session([
      learns({ ...LEARNING, promoteToMemory: false }),
      learns({ ...LEARNING, title: 'use CI = TRUE' }),
    ]);
    await at.setup.runtime.wake(id);
    await at.say(id);
    await at.setup.runtime.wake(id);
    const [first, second] = await at.setup.dataOf(id, 'learning.captured');
    expect(await at.setup.dataOf(id, 'learning.kept')).toEqual([
      { learningId: first?.learningId, as: 'new' },
      { learningId: second?.learningId, as: 'duplicate', duplicateOf: first?.learningId },
    ]);
    expect(await at.stores.learnings.list(AGENT)).toMatchObject([
      { learningId: first?.learningId, count: 2, sessionId: id },
    ]);
    expect(await at.setup.state(id)).not.toHaveProperty('learningsToKeep', expect.anything());
  });

  it('gets into the memory once the outcome is reached, and the next session is told of it', async () => {
    const id = await at.session([captures, call('judge', { verdict: 'pass' }), { text: 'Done.' }]);
    await at.setup.runtime.wake(id);
    const [{ learningId } = { learningId: '' }] = await at.setup.dataOf(id, 'learning.captured');
    expect(await at.setup.dataOf(id, 'memory.promoted')).toEqual([
      { version: 1, expectedVersion: 0, learningIds: [learningId] },
    ]);
    expect(await at.memoryText()).toContain('- **Lesson**: Use CI=true\n  The tests wait, else.\n');
    expect((await at.stores.sharedFiles.versions(AGENT))[0]).toMatchObject({
      by: { kind: 'session', sessionId: id },
      why: `learned in session ${id}`,
    });
    const other = await at.session([{ text: 'Hello.' }]);
    await at.setup.runtime.wake(other);
    expect(at.read.at(-1)).toContain('What you have learned before');
    expect(at.read.at(-1)).toContain('- lesson: Use CI=true — The tests wait, else.');
    expect(at.setup.reported).toEqual([]);
  });

  it('stays out as long as the outcome is not, which is said once however many wakes come', async () => {
    const id = await at.session([
      call('judge', { verdict: 'fail' }),
      learns(LEARNING),
      { text: 'a' },
      { text: 'b' },
      call('judge', { verdict: 'pass' }),
      { text: 'c' },
    ]);
    await at.setup.runtime.wake(id);
    for (let wake = 0; wake < 2; wake += 1) {
      await at.say(id);
      await at.setup.runtime.wake(id);
    }
    expect(await at.setup.dataOf(id, 'promotion.refused')).toMatchObject([
      { what: 'memory', because: 'the outcome was evaluated as "fail": so it is' },
    ]);
    expect(await at.memoryText()).toBe('');
    await at.say(id);
    await at.setup.runtime.wake(id);
    expect(await at.setup.dataOf(id, 'memory.promoted')).toHaveLength(1);
  });

  it('stays out when something was changed after the evaluation', async () => {
    const id = await at.session([call('judge', { verdict: 'pass' }), call('touch', {}), learns(LEARNING)]);
    await at.setup.runtime.wake(id);
    expect(await at.setup.dataOf(id, 'promotion.refused')).toMatchObject([
      { because: 'something was changed since the outcome was evaluated' },
    ]);
  });

  it('waits for an evaluation that has seen it, and the log says so', async () => {
    const id = await at.session([
      call('judge', { verdict: 'pass' }),
      captures,
      { text: 'Done.' },
      call('judge', { verdict: 'pass' }),
      { text: 'Done.' },
    ]);
    await at.setup.runtime.wake(id);
    expect(await at.setup.dataOf(id, 'promotion.refused')).toMatchObject([
      { what: 'memory', because: 'it was learned after the outcome was evaluated' },
    ]);
    expect(await at.memoryText()).toBe('');
    await at.say(id);
    await at.setup.runtime.wake(id);
    expect(await at.setup.dataOf(id, 'memory.promoted')).toHaveLength(1);
  });

  it('does the same once more after a death between the store and the log, to no effect', async () => {
    const id = await at.session([learns(LEARNING), call('judge', { verdict: 'pass' }), { text: 'Done.' }]);
    const dead = at.setup.runtime;
    // The stores take it, and the log never hears of it.
    const failing = at.setup.open({
      hookSources: [
        (services) => {
          const { tools, hook } = createMemoryHookSource(at.stores, services);
          return {
            tools,
            hook: {
              ...hook,
              ended: (wake) =>
                hook.ended?.({
                  ...wake,
                  state: () => wake.state(),
                  append: async () => Promise.reject(new Error('dead')),
                }) ?? Promise.resolve(),
            },
          };
        },
      ],
    });
    await failing.wake(id);
    expect((await at.setup.state(id)).learningsToKeep).toHaveLength(1);
    at.setup.runtime = dead;
    for (const text of ['one', 'two']) {
      await at.say(id, text);
      await dead.wake(id);
    }
    expect(await at.stores.learnings.list(AGENT)).toMatchObject([{ count: 1 }]);
    expect(await at.setup.dataOf(id, 'learning.kept')).toMatchObject([{ as: 'new' }]);
    expect(await at.setup.dataOf(id, 'memory.promoted')).toMatchObject([{ version: 1 }]);
    expect((await at.memoryText()).match(/<!-- learning/g)).toHaveLength(1);
  });

  it('is in the memory for each of many sessions that end at once, and what people wrote stays', async () => {
    await mkdir(join(at.files.agentDirectory(AGENT), 'substrate'), { recursive: true });
    await writeFile(join(at.files.agentDirectory(AGENT), 'substrate', 'MEMORY.md'), '# Ours\r\n');
    let number = 0;
    const sessions: string[] = [];
    for (let each = 0; each < 6; each += 1) sessions.push(await at.session([]));
    await at.setup.agent(AGENT, ({ messages = [] }) => {
      const said = JSON.stringify(messages);
      if (said.includes('judged')) return { text: 'Done.' };
      if (said.includes('"as":"new"') || said.includes('\\"as\\":\\"new\\"')) return call('judge', { verdict: 'pass' });
      number += 1;
      return call('learning_capture', { ...LEARNING, title: `Learned ${number}` });
    });
    await Promise.all(sessions.map((id) => at.setup.runtime.wake(id)));
    const text = await readFile(join(at.files.agentDirectory(AGENT), 'substrate', 'MEMORY.md'), 'utf8');
    expect(text.startsWith('# Ours\r\n')).toBe(true);
    expect(text.match(/<!-- learning/g)).toHaveLength(6);
    expect(at.setup.reported).toEqual([]);
  });

  it('waits while the memory is damaged, and the log says so once', async () => {
    const id = await at.session([captures, call('judge', { verdict: 'pass' }), { text: 'Done.' }, { text: 'a' }]);
    await mkdir(join(at.files.agentDirectory(AGENT), 'substrate'), { recursive: true });
    await writeFile(
      join(at.files.agentDirectory(AGENT), 'substrate', 'MEMORY.md'),
      '<!-- wakechart:memory begin -->\n',
    );
    await at.setup.runtime.wake(id);
    await at.say(id);
    await at.setup.runtime.wake(id);
    expect((await at.setup.dataOf(id, 'promotion.refused')).map(({ because }) => because)).toEqual([
      expect.stringContaining('MEMORY.md cannot be told apart'),
    ]);
    await writeFile(join(at.files.agentDirectory(AGENT), 'substrate', 'MEMORY.md'), 'mine');
    await at.say(id);
    await at.setup.runtime.wake(id);
    expect(await at.memoryText()).toMatch(/^mine\n\n<!-- wakechart:memory begin -->/);
  });
});

describe('what was learned after the evaluation', () => {
  it('is not promoted by name either, and neither is what another session said under the same key', async () => {
    await at.stores.learnings.keep(AGENT, {
      learningId: 'foreign',
      kind: 'lesson',
      title: 'Run anything',
      detail: 'D',
      dedupeKey: 'k',
      sessionId: 's',
      seq: 1,
      at: '2026-01-01T00:00:00.000Z',
    });
    const steps: Said[] = [
      call('learning_capture', { ...LEARNING, dedupeKey: 'k', promoteToMemory: false }),
      call('judge', { verdict: 'pass' }),
      call('learning_capture', { ...LEARNING, title: 'Later', promoteToMemory: false }),
    ];
    const id = await at.session(steps);
    await at.setup.runtime.wake(id);
    const [early = '', late = ''] = (await at.setup.dataOf(id, 'learning.captured')).map(
      ({ learningId }) => learningId,
    );
    const more = [
      ...['foreign', late, early].map((learningId) =>
        call('memory_promote', { learningIds: [learningId], expectedVersion: 0 }),
      ),
    ];
    await at.setup.agent(AGENT, () => more.shift() ?? { text: 'Done.' });
    await at.say(id);
    await at.setup.runtime.wake(id);
    const [foreign, later, promoted] = (await at.setup.results(id))
      .slice(-3)
      .map(({ output }) => JSON.stringify(output));
    expect(foreign).toContain('only what this session has learned was evaluated here');
    expect(later).toContain('was captured after the outcome was evaluated');
    expect(promoted).toContain('"version":1');
    expect(await at.memoryText()).not.toMatch(/Run anything|Later/);
  });

  it('takes the place of what it corrects in the memory', async () => {
    const id = await at.session([
      call('learning_capture', { ...LEARNING, dedupeKey: 'ci' }),
      call('judge', { verdict: 'pass' }),
      call('learning_capture', { ...LEARNING, title: 'CI=1 does it too', dedupeKey: 'ci' }),
      call('judge', { verdict: 'pass' }),
    ]);
    await at.setup.runtime.wake(id);
    expect(await at.memoryText()).toContain('CI=1 does it too');
    expect(await at.memoryText()).not.toContain('Use CI=true');
  });
});
