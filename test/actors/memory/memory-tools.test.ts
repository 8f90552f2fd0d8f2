/** The tools of memory and of shared files, in whole wakes: what they take, what they show, and what they refuse. */
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

describe('the tools of memory', () => {
  const outputs = async (id: string): Promise<unknown[]> => (await at.setup.results(id)).map(({ output }) => output);

  it('capture, list and promote within one wake', async () => {
    const steps: Said[] = [
      call('learning_capture', { kind: 'error', title: 'Port taken', detail: 'Use another.' }),
      call('learning_list', {}),
      call('judge', { verdict: 'pass' }),
    ];
    const id = await at.session(steps);
    steps.push({ calls: [] });
    await at.setup.agent(AGENT, async ({ messages = [] }) => {
      const step =
        steps[JSON.stringify(messages).match(/"type":"tool_result"|"kind":"tool_result"|tool_result/g)?.length ?? 0];
      return step ?? { text: 'Done.' };
    });
    await at.setup.runtime.wake(id);
    const [captured] = await outputs(id);
    expect(captured).toMatchObject({ as: 'new' });
    const learningId = (captured as { learningId: string }).learningId;
    expect((await outputs(id))[1]).toMatchObject({
      total: 1,
      learnings: [{ learningId, title: 'Port taken', count: 1, sessionId: id }],
    });
    const more = [
      call('memory_promote', { learningIds: [learningId], expectedVersion: 0 }),
      call('memory_read', {}),
      call('memory_promote', { learningIds: [learningId], expectedVersion: 0 }),
    ];
    await at.setup.agent(AGENT, () => more.shift() ?? { text: 'Done.' });
    await at.say(id);
    await at.setup.runtime.wake(id);
    const [promoted, memory, late] = (await outputs(id)).slice(-3);
    expect(promoted).toMatchObject({ version: 1, isNew: true, changed: ['MEMORY.md'] });
    expect(memory).toMatchObject({ version: 1, entries: [{ learningId, title: 'Port taken' }] });
    expect(JSON.stringify(late)).toContain('they are at version 1; nothing was changed');
    expect(await at.setup.dataOf(id, 'memory.promoted')).toEqual([
      { version: 1, expectedVersion: 0, learningIds: [learningId] },
    ]);
  });

  it('promote nothing without an evaluation that passed, also when they are run by whoever has them', async () => {
    await at.stores.learnings.keep(AGENT, {
      learningId: 'a',
      kind: 'lesson',
      title: 'T',
      detail: 'D',
      sessionId: 's',
      seq: 1,
      at: '2026-01-01T00:00:00.000Z',
    });
    await at.stores.sharedFiles.people.edit({
      agentId: AGENT,
      expectedVersion: 0,
      why: '',
      changes: [{ path: 'a.md', content: 'a' }],
    });
    const id = await at.session([
      call('memory_promote', { learningIds: ['a'], expectedVersion: 1 }),
      call('judge', { verdict: 'pass' }),
      call('memory_promote', { learningIds: ['a'], expectedVersion: 1 }),
    ]);
    await at.setup.runtime.wake(id);
    const [before, , foreign] = (await outputs(id)).map((each) => JSON.stringify(each));
    expect(before).toContain('the outcome has not been evaluated');
    expect(foreign).toMatch(/comes from session s, and only what this session has learned/);
    const state = await at.setup.state(await at.session([], { outcome: false }));
    const { tools } = createMemoryHookSource(at.stores, {
      store: at.setup.store,
      ids: { next: () => '0192f0c1-2345-7abc-8def-0123456789ab' },
    });
    const context = {
      session: { sessionId: state.sessionId, agentId: AGENT },
      callId: 'c',
      workspaceDirectory: at.files.home,
      signal: new AbortController().signal,
      wake: {
        state: () => state,
        agent: undefined as never,
        append: async () => undefined,
        appendDecided: async () => undefined,
        signal: new AbortController().signal,
      },
    };
    await at.stores.sharedFiles.people.edit({
      agentId: AGENT,
      expectedVersion: 1,
      why: '',
      changes: [{ path: 'a.md', content: 'b' }],
    });
    for (const [name, input] of [
      ['memory_promote', { learningIds: ['a'], expectedVersion: 2 }],
      ['memory_restore', { version: 1, expectedVersion: 2 }],
      ['resources_promote', { paths: ['a.md'], expectedVersion: 2 }],
      ['resources_restore', { version: 1, expectedVersion: 2 }],
    ] as const) {
      const tool = tools.find(({ definition }) => definition.name === name);
      await expect(tool?.run?.(input, context)).rejects.toMatchObject({ code: 'PROMOTION_REFUSED' });
      await expect(tool?.run?.(input, { ...context, wake: undefined })).rejects.toMatchObject({
        code: 'TOOL_NEEDS_WAKE',
      });
    }
    expect((await at.stores.sharedFiles.head(AGENT)).version).toBe(2);
  });

  it('capture a bounded number in one wake', async () => {
    const id = await at.session([
      {
        calls: Array.from({ length: 12 }, (_, index) => ({
          name: 'learning_capture',
          input: { kind: 'lesson', title: `T ${index}`, detail: 'D' },
        })),
      },
    ]);
    await at.setup.runtime.wake(id);
    expect((await at.stores.learnings.list(AGENT)).length).toBe(10);
    expect(JSON.stringify(await outputs(id)).match(/expected at most 10 learnings in one wake/g)).toHaveLength(2);
    expect(await at.setup.dataOf(id, 'learning.kept')).toHaveLength(10);
  });
});

describe('the tools of shared files', () => {
  it('share nothing that was changed behind the log after the evaluation', async () => {
    const id = await at.session([
      call('resources_stage', {}),
      call('judge', { verdict: 'pass' }),
      call('resources_promote', { paths: ['a.md'], expectedVersion: 0 }),
    ]);
    const workspace = await at.setup.layout.workspaceDirectory({ sessionId: id, agentId: AGENT });
    await mkdir(join(workspace, 'substrate-stage'), { recursive: true });
    await writeFile(join(workspace, 'substrate-stage/a.md'), 'fine\n');
    await at.setup.runtime.wake(id);
    await writeFile(join(workspace, 'substrate-stage/a.md'), 'evil\n');
    await at.setup.confirm(id, { toolName: 'resources_promote' });
    await at.setup.runtime.wake(id);
    expect(JSON.stringify((await at.setup.results(id)).at(-1)?.output)).toContain(
      'is not what lay there when the outcome was evaluated',
    );
    expect((await at.stores.sharedFiles.head(AGENT)).version).toBe(0);
  });

  it('share what others have not touched, also when something else was shared while a person was asked', async () => {
    await at.stores.sharedFiles.people.edit({
      agentId: AGENT,
      expectedVersion: 0,
      why: '',
      changes: [{ path: 'a.md', content: 'one\n' }],
    });
    const id = await at.session([
      call('resources_stage', {}),
      call('judge', { verdict: 'pass' }),
      call('resources_promote', { paths: ['b.md'], expectedVersion: 1 }),
      call('resources_promote', { paths: ['a.md'], expectedVersion: 1 }),
    ]);
    const workspace = await at.setup.layout.workspaceDirectory({ sessionId: id, agentId: AGENT });
    await mkdir(join(workspace, 'substrate-stage'), { recursive: true });
    await writeFile(join(workspace, 'substrate-stage/b.md'), 'mine\n');
    await at.setup.runtime.wake(id);
    await at.stores.sharedFiles.people.edit({
      agentId: AGENT,
      expectedVersion: 1,
      why: '',
      changes: [{ path: 'a.md', content: 'theirs\n' }],
    });
    await at.setup.confirm(id, { toolName: 'resources_promote' });
    await at.setup.runtime.wake(id);
    expect((await at.setup.results(id)).at(-1)?.output).toMatchObject({ version: 3, changed: ['b.md'] });
    await at.setup.confirm(id, { toolName: 'resources_promote' });
    await at.setup.runtime.wake(id);
    expect(JSON.stringify((await at.setup.results(id)).at(-1)?.output)).toMatch(/version 1/);
    expect(await readFile(join(at.files.agentDirectory(AGENT), 'substrate/a.md'), 'utf8')).toBe('theirs\n');
  });

  it('stage, compare, and promote what was evaluated and a person allowed', async () => {
    await at.stores.sharedFiles.people.edit({
      agentId: AGENT,
      expectedVersion: 0,
      why: '',
      changes: [
        { path: 'notes/a.md', content: 'one\n' },
        { path: 'b.md', content: 'b\n' },
      ],
    });
    const id = await at.session([call('resources_stage', {}), { text: 'Staged.' }]);
    await at.setup.runtime.wake(id);
    const workspace = await at.setup.layout.workspaceDirectory({ sessionId: id, agentId: AGENT });
    await writeFile(join(workspace, 'substrate-stage/notes/a.md'), 'two\n');
    await writeFile(join(workspace, 'substrate-stage/c.md'), 'c\n');
    const more = [
      call('resources_compare', {}),
      call('judge', { verdict: 'pass' }),
      call('resources_promote', { paths: ['notes/a.md', 'c.md'], expectedVersion: 1, why: 'better' }),
    ];
    await at.setup.agent(AGENT, () => more.shift() ?? { text: 'Done.' });
    await at.say(id);
    await at.setup.runtime.wake(id);
    const compared = (await at.setup.results(id))[1]?.output as { diff: string };
    expect(compared).toMatchObject({
      version: 1,
      stagedVersion: 1,
      files: [
        { path: 'b.md', state: 'same' },
        { path: 'c.md', state: 'added' },
        { path: 'notes/a.md', state: 'changed' },
      ],
    });
    expect(compared.diff).toContain('-one\n+two\n');
    expect((await at.stores.sharedFiles.head(AGENT)).version).toBe(1);
    await at.setup.confirm(id, { toolName: 'resources_promote' });
    await at.setup.runtime.wake(id);
    expect((await at.setup.results(id)).at(-1)?.output).toEqual({
      version: 2,
      isNew: true,
      changed: ['c.md', 'notes/a.md'],
    });
    expect(await at.setup.dataOf(id, 'files.promoted')).toEqual([
      { version: 2, expectedVersion: 1, paths: ['c.md', 'notes/a.md'] },
    ]);
    expect(await readFile(join(at.files.agentDirectory(AGENT), 'substrate/notes/a.md'), 'utf8')).toBe('two\n');
  });
});
