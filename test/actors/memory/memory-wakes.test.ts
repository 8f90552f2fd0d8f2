/**
 * Sessions that learn, as whole wakes over real stores: what is kept, what gets into the memory, what is refused, and
 * what the next session is told.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AgentMemory } from '../../../src/actors/memory/agent-memory.ts';
import { stageDigest } from '../../../src/actors/memory/stage-digest.ts';
import { createMemoryCompanionship } from '../../../src/actors/memory/memory-companionship.ts';
import type { Tool } from '../../../src/actors/turn/tool.ts';
import type { MemoryFiles } from '../../../src/adapters/substrate-files/memory-files.ts';
import { openMemoryHouse } from '../../support/memory-house.ts';
import type { MemoryHouse } from '../../support/memory-house.ts';
import { openTurnHouse } from '../../support/turn-house.ts';
import type { Said, TurnHouse } from '../../support/turn-house.ts';

const AGENT = 'writer';

let files: MemoryHouse;
let stores: MemoryFiles;
let house: TurnHouse;
const read: string[] = [];

/** Says of the outcome what it is told to say, as an evaluation does. */
const evaluate: Tool<{ verdict: 'pass' | 'fail' }> = {
  definition: {
    name: 'judge',
    description: 'Judges.',
    inputSchema: z.strictObject({ verdict: z.enum(['pass', 'fail']) }),
    ownership: 'custom',
    permissionPolicy: 'always_allow',
    readOnly: false,
    destructive: false,
    effects: ['writes_session'],
    interruptBehavior: 'finish',
  },
  async run({ verdict }, { wake, workspaceDirectory }) {
    const digest = await stageDigest(await stores.stage.read(workspaceDirectory));
    await wake?.append([
      {
        type: 'outcome.evaluated',
        data: {
          verdict,
          because: 'so it is',
          evidence: [],
          throughSeq: wake.state().head,
          evaluators: ['log'],
          stageDigest: digest,
        },
      },
    ]);
    return 'judged';
  },
};

const touch: Tool<Record<string, never>> = {
  definition: {
    name: 'touch',
    description: 'Changes something.',
    inputSchema: z.strictObject({}),
    ownership: 'custom',
    permissionPolicy: 'always_allow',
    readOnly: false,
    destructive: false,
    interruptBehavior: 'finish',
  },
  run: async () => 'touched',
};

beforeEach(async () => {
  read.length = 0;
  files = await openMemoryHouse();
  stores = files.open();
  house = await openTurnHouse({
    tools: [evaluate, touch] as readonly Tool[],
    memory: new AgentMemory(stores),
    companionships: [(services) => createMemoryCompanionship(stores, services)],
  });
});
afterEach(async () => {
  await house[Symbol.asyncDispose]();
  await files.dispose();
});

const call = (name: string, input: unknown): Said => ({ calls: [{ name, input }] });
const LEARNING = { kind: 'lesson', title: 'Use CI=true', detail: 'The tests wait, else.', promoteToMemory: true };
const captures: Said = call('learning_capture', LEARNING);
const learns = (...learnings: readonly object[]): Said => ({
  text: `\`\`\`wakechart-directive\n${JSON.stringify({ outcome: 'sleep', summary: 'Done.', learnings })}\n\`\`\``,
});

async function session(steps: readonly Said[], { outcome = true } = {}): Promise<string> {
  let next = 0;
  await house.agent(
    AGENT,
    ({ instructions }) => {
      read.push(instructions ?? '');
      next += 1;
      return steps[next - 1] ?? { text: 'Nothing more.' };
    },
    { tools: ['memory', 'resources', 'judge', 'touch'] },
  );
  const { sessionId } = await house.runtime.sessions.create({ agentId: AGENT });
  if (outcome) await house.runtime.sessions.send(sessionId, { type: 'user.define_outcome', title: 'The tests pass.' });
  await house.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
  return sessionId;
}

const memoryText = async (): Promise<string> => (await new AgentMemory(stores).read(AGENT)).text;
const say = (sessionId: string, text = 'Again'): Promise<unknown> =>
  house.runtime.sessions.send(sessionId, { type: 'user.message', text });

describe('what a session learns', () => {
  it('is kept for all sessions, and counted when it is learned again', async () => {
    const id = await session([
      learns({ ...LEARNING, promoteToMemory: false }),
      learns({ ...LEARNING, title: 'use CI = TRUE' }),
    ]);
    await house.runtime.wake(id);
    await say(id);
    await house.runtime.wake(id);
    const [first, second] = await house.dataOf(id, 'learning.captured');
    expect(await house.dataOf(id, 'learning.kept')).toEqual([
      { learningId: first?.learningId, as: 'new' },
      { learningId: second?.learningId, as: 'duplicate', duplicateOf: first?.learningId },
    ]);
    expect(await stores.learnings.list(AGENT)).toMatchObject([
      { learningId: first?.learningId, count: 2, sessionId: id },
    ]);
    expect(await house.state(id)).not.toHaveProperty('learningsToKeep', expect.anything());
  });

  it('gets into the memory once the outcome is reached, and the next session is told of it', async () => {
    const id = await session([captures, call('judge', { verdict: 'pass' }), { text: 'Done.' }]);
    await house.runtime.wake(id);
    const [{ learningId } = { learningId: '' }] = await house.dataOf(id, 'learning.captured');
    expect(await house.dataOf(id, 'memory.promoted')).toEqual([
      { version: 1, expectedVersion: 0, learningIds: [learningId] },
    ]);
    expect(await memoryText()).toContain('- **Lesson**: Use CI=true\n  The tests wait, else.\n');
    expect((await stores.substrate.versions(AGENT))[0]).toMatchObject({
      by: { kind: 'session', sessionId: id },
      why: `learned in session ${id}`,
    });
    const other = await session([{ text: 'Hello.' }]);
    await house.runtime.wake(other);
    expect(read.at(-1)).toContain('What you have learned before');
    expect(read.at(-1)).toContain('- lesson: Use CI=true — The tests wait, else.');
    expect(house.reported).toEqual([]);
  });

  it('stays out as long as the outcome is not, which is said once however many wakes come', async () => {
    const id = await session([
      call('judge', { verdict: 'fail' }),
      learns(LEARNING),
      { text: 'a' },
      { text: 'b' },
      call('judge', { verdict: 'pass' }),
      { text: 'c' },
    ]);
    await house.runtime.wake(id);
    for (let wake = 0; wake < 2; wake += 1) {
      await say(id);
      await house.runtime.wake(id);
    }
    expect(await house.dataOf(id, 'promotion.refused')).toMatchObject([
      { what: 'memory', because: 'the outcome was evaluated as "fail": so it is' },
    ]);
    expect(await memoryText()).toBe('');
    await say(id);
    await house.runtime.wake(id);
    expect(await house.dataOf(id, 'memory.promoted')).toHaveLength(1);
  });

  it('stays out when something was changed after the evaluation', async () => {
    const id = await session([call('judge', { verdict: 'pass' }), call('touch', {}), learns(LEARNING)]);
    await house.runtime.wake(id);
    expect(await house.dataOf(id, 'promotion.refused')).toMatchObject([
      { because: 'something was changed since the outcome was evaluated' },
    ]);
  });

  it('waits for an evaluation that has seen it, and the log says so', async () => {
    const id = await session([
      call('judge', { verdict: 'pass' }),
      captures,
      { text: 'Done.' },
      call('judge', { verdict: 'pass' }),
      { text: 'Done.' },
    ]);
    await house.runtime.wake(id);
    expect(await house.dataOf(id, 'promotion.refused')).toMatchObject([
      { what: 'memory', because: 'it was learned after the outcome was evaluated' },
    ]);
    expect(await memoryText()).toBe('');
    await say(id);
    await house.runtime.wake(id);
    expect(await house.dataOf(id, 'memory.promoted')).toHaveLength(1);
  });

  it('does the same once more after a death between the store and the log, to no effect', async () => {
    const id = await session([learns(LEARNING), call('judge', { verdict: 'pass' }), { text: 'Done.' }]);
    const dead = house.runtime;
    // The stores take it, and the log never hears of it.
    const failing = house.open({
      companionships: [
        (services) => {
          const { tools, companion } = createMemoryCompanionship(stores, services);
          return {
            tools,
            companion: {
              ...companion,
              ended: (wake) =>
                companion.ended?.({
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
    expect((await house.state(id)).learningsToKeep).toHaveLength(1);
    house.runtime = dead;
    for (const text of ['one', 'two']) {
      await say(id, text);
      await dead.wake(id);
    }
    expect(await stores.learnings.list(AGENT)).toMatchObject([{ count: 1 }]);
    expect(await house.dataOf(id, 'learning.kept')).toMatchObject([{ as: 'new' }]);
    expect(await house.dataOf(id, 'memory.promoted')).toMatchObject([{ version: 1 }]);
    expect((await memoryText()).match(/<!-- learning/g)).toHaveLength(1);
  });

  it('is in the memory for each of many sessions that end at once, and what people wrote stays', async () => {
    await mkdir(join(files.agentDirectory(AGENT), 'substrate'), { recursive: true });
    await writeFile(join(files.agentDirectory(AGENT), 'substrate', 'MEMORY.md'), '# Ours\r\n');
    let number = 0;
    const sessions: string[] = [];
    for (let each = 0; each < 6; each += 1) sessions.push(await session([]));
    await house.agent(AGENT, ({ messages = [] }) => {
      const said = JSON.stringify(messages);
      if (said.includes('judged')) return { text: 'Done.' };
      if (said.includes('"as":"new"') || said.includes('\\"as\\":\\"new\\"')) return call('judge', { verdict: 'pass' });
      number += 1;
      return call('learning_capture', { ...LEARNING, title: `Learned ${number}` });
    });
    await Promise.all(sessions.map((id) => house.runtime.wake(id)));
    const text = await readFile(join(files.agentDirectory(AGENT), 'substrate', 'MEMORY.md'), 'utf8');
    expect(text.startsWith('# Ours\r\n')).toBe(true);
    expect(text.match(/<!-- learning/g)).toHaveLength(6);
    expect(house.reported).toEqual([]);
  });

  it('waits while the memory is damaged, and the log says so once', async () => {
    const id = await session([captures, call('judge', { verdict: 'pass' }), { text: 'Done.' }, { text: 'a' }]);
    await mkdir(join(files.agentDirectory(AGENT), 'substrate'), { recursive: true });
    await writeFile(join(files.agentDirectory(AGENT), 'substrate', 'MEMORY.md'), '<!-- wakechart:memory begin -->\n');
    await house.runtime.wake(id);
    await say(id);
    await house.runtime.wake(id);
    expect((await house.dataOf(id, 'promotion.refused')).map(({ because }) => because)).toEqual([
      expect.stringContaining('MEMORY.md cannot be told apart'),
    ]);
    await writeFile(join(files.agentDirectory(AGENT), 'substrate', 'MEMORY.md'), 'mine');
    await say(id);
    await house.runtime.wake(id);
    expect(await memoryText()).toMatch(/^mine\n\n<!-- wakechart:memory begin -->/);
  });
});

describe('the tools of memory', () => {
  const outputs = async (id: string): Promise<unknown[]> => (await house.results(id)).map(({ output }) => output);

  it('capture, list and promote within one wake', async () => {
    const steps: Said[] = [
      call('learning_capture', { kind: 'error', title: 'Port taken', detail: 'Use another.' }),
      call('learning_list', {}),
      call('judge', { verdict: 'pass' }),
    ];
    const id = await session(steps);
    steps.push({ calls: [] });
    await house.agent(AGENT, async ({ messages = [] }) => {
      const step =
        steps[JSON.stringify(messages).match(/"type":"tool_result"|"kind":"tool_result"|tool_result/g)?.length ?? 0];
      return step ?? { text: 'Done.' };
    });
    await house.runtime.wake(id);
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
    await house.agent(AGENT, () => more.shift() ?? { text: 'Done.' });
    await say(id);
    await house.runtime.wake(id);
    const [promoted, memory, late] = (await outputs(id)).slice(-3);
    expect(promoted).toMatchObject({ version: 1, isNew: true, changed: ['MEMORY.md'] });
    expect(memory).toMatchObject({ version: 1, entries: [{ learningId, title: 'Port taken' }] });
    expect(JSON.stringify(late)).toContain('they are at version 1; nothing was changed');
    expect(await house.dataOf(id, 'memory.promoted')).toEqual([
      { version: 1, expectedVersion: 0, learningIds: [learningId] },
    ]);
  });

  it('promote nothing without an evaluation that passed, also when they are run by whoever has them', async () => {
    await stores.learnings.keep(AGENT, {
      learningId: 'a',
      kind: 'lesson',
      title: 'T',
      detail: 'D',
      sessionId: 's',
      seq: 1,
      at: '2026-01-01T00:00:00.000Z',
    });
    await stores.substrate.people.edit({
      agentId: AGENT,
      expectedVersion: 0,
      why: '',
      changes: [{ path: 'a.md', content: 'a' }],
    });
    const id = await session([
      call('memory_promote', { learningIds: ['a'], expectedVersion: 1 }),
      call('judge', { verdict: 'pass' }),
      call('memory_promote', { learningIds: ['a'], expectedVersion: 1 }),
    ]);
    await house.runtime.wake(id);
    const [before, , foreign] = (await outputs(id)).map((each) => JSON.stringify(each));
    expect(before).toContain('the outcome has not been evaluated');
    expect(foreign).toMatch(/comes from session s, and only what this session has learned/);
    const state = await house.state(await session([], { outcome: false }));
    const { tools } = createMemoryCompanionship(stores, {
      store: house.store,
      ids: { next: () => '0192f0c1-2345-7abc-8def-0123456789ab' },
    });
    const context = {
      session: { sessionId: state.sessionId, agentId: AGENT },
      callId: 'c',
      workspaceDirectory: files.home,
      signal: new AbortController().signal,
      wake: {
        state: () => state,
        agent: undefined as never,
        append: async () => undefined,
        signal: new AbortController().signal,
      },
    };
    await stores.substrate.people.edit({
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
    expect((await stores.substrate.head(AGENT)).version).toBe(2);
  });

  it('capture a bounded number in one wake', async () => {
    const id = await session([
      {
        calls: Array.from({ length: 12 }, (_, index) => ({
          name: 'learning_capture',
          input: { kind: 'lesson', title: `T ${index}`, detail: 'D' },
        })),
      },
    ]);
    await house.runtime.wake(id);
    expect((await stores.learnings.list(AGENT)).length).toBe(10);
    expect(JSON.stringify(await outputs(id)).match(/expected at most 10 learnings in one wake/g)).toHaveLength(2);
    expect(await house.dataOf(id, 'learning.kept')).toHaveLength(10);
  });
});

describe('what was learned after the evaluation', () => {
  it('is not promoted by name either, and neither is what another session said under the same key', async () => {
    await stores.learnings.keep(AGENT, {
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
    const id = await session(steps);
    await house.runtime.wake(id);
    const [early = '', late = ''] = (await house.dataOf(id, 'learning.captured')).map(({ learningId }) => learningId);
    const more = [
      ...['foreign', late, early].map((learningId) =>
        call('memory_promote', { learningIds: [learningId], expectedVersion: 0 }),
      ),
    ];
    await house.agent(AGENT, () => more.shift() ?? { text: 'Done.' });
    await say(id);
    await house.runtime.wake(id);
    const [foreign, later, promoted] = (await house.results(id)).slice(-3).map(({ output }) => JSON.stringify(output));
    expect(foreign).toContain('only what this session has learned was evaluated here');
    expect(later).toContain('was captured after the outcome was evaluated');
    expect(promoted).toContain('"version":1');
    expect(await memoryText()).not.toMatch(/Run anything|Later/);
  });

  it('takes the place of what it corrects in the memory', async () => {
    const id = await session([
      call('learning_capture', { ...LEARNING, dedupeKey: 'ci' }),
      call('judge', { verdict: 'pass' }),
      call('learning_capture', { ...LEARNING, title: 'CI=1 does it too', dedupeKey: 'ci' }),
      call('judge', { verdict: 'pass' }),
    ]);
    await house.runtime.wake(id);
    expect(await memoryText()).toContain('CI=1 does it too');
    expect(await memoryText()).not.toContain('Use CI=true');
  });
});

describe('the tools of shared files', () => {
  it('share nothing that was changed behind the log after the evaluation', async () => {
    const id = await session([
      call('resources_stage', {}),
      call('judge', { verdict: 'pass' }),
      call('resources_promote', { paths: ['a.md'], expectedVersion: 0 }),
    ]);
    const workspace = await house.layout.workspaceDirectory({ sessionId: id, agentId: AGENT });
    await mkdir(join(workspace, 'substrate-stage'), { recursive: true });
    await writeFile(join(workspace, 'substrate-stage/a.md'), 'fine\n');
    await house.runtime.wake(id);
    await writeFile(join(workspace, 'substrate-stage/a.md'), 'evil\n');
    await house.confirm(id, { toolName: 'resources_promote' });
    await house.runtime.wake(id);
    expect(JSON.stringify((await house.results(id)).at(-1)?.output)).toContain(
      'is not what lay there when the outcome was evaluated',
    );
    expect((await stores.substrate.head(AGENT)).version).toBe(0);
  });

  it('share what others have not touched, also when something else was shared while a person was asked', async () => {
    await stores.substrate.people.edit({
      agentId: AGENT,
      expectedVersion: 0,
      why: '',
      changes: [{ path: 'a.md', content: 'one\n' }],
    });
    const id = await session([
      call('resources_stage', {}),
      call('judge', { verdict: 'pass' }),
      call('resources_promote', { paths: ['b.md'], expectedVersion: 1 }),
      call('resources_promote', { paths: ['a.md'], expectedVersion: 1 }),
    ]);
    const workspace = await house.layout.workspaceDirectory({ sessionId: id, agentId: AGENT });
    await mkdir(join(workspace, 'substrate-stage'), { recursive: true });
    await writeFile(join(workspace, 'substrate-stage/b.md'), 'mine\n');
    await house.runtime.wake(id);
    await stores.substrate.people.edit({
      agentId: AGENT,
      expectedVersion: 1,
      why: '',
      changes: [{ path: 'a.md', content: 'theirs\n' }],
    });
    await house.confirm(id, { toolName: 'resources_promote' });
    await house.runtime.wake(id);
    expect((await house.results(id)).at(-1)?.output).toMatchObject({ version: 3, changed: ['b.md'] });
    await house.confirm(id, { toolName: 'resources_promote' });
    await house.runtime.wake(id);
    expect(JSON.stringify((await house.results(id)).at(-1)?.output)).toMatch(/version 1/);
    expect(await readFile(join(files.agentDirectory(AGENT), 'substrate/a.md'), 'utf8')).toBe('theirs\n');
  });

  it('stage, compare, and promote what was evaluated and a person allowed', async () => {
    await stores.substrate.people.edit({
      agentId: AGENT,
      expectedVersion: 0,
      why: '',
      changes: [
        { path: 'notes/a.md', content: 'one\n' },
        { path: 'b.md', content: 'b\n' },
      ],
    });
    const id = await session([call('resources_stage', {}), { text: 'Staged.' }]);
    await house.runtime.wake(id);
    const workspace = await house.layout.workspaceDirectory({ sessionId: id, agentId: AGENT });
    await writeFile(join(workspace, 'substrate-stage/notes/a.md'), 'two\n');
    await writeFile(join(workspace, 'substrate-stage/c.md'), 'c\n');
    const more = [
      call('resources_compare', {}),
      call('judge', { verdict: 'pass' }),
      call('resources_promote', { paths: ['notes/a.md', 'c.md'], expectedVersion: 1, why: 'better' }),
    ];
    await house.agent(AGENT, () => more.shift() ?? { text: 'Done.' });
    await say(id);
    await house.runtime.wake(id);
    const compared = (await house.results(id))[1]?.output as { diff: string };
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
    expect((await stores.substrate.head(AGENT)).version).toBe(1);
    await house.confirm(id, { toolName: 'resources_promote' });
    await house.runtime.wake(id);
    expect((await house.results(id)).at(-1)?.output).toEqual({
      version: 2,
      isNew: true,
      changed: ['c.md', 'notes/a.md'],
    });
    expect(await house.dataOf(id, 'substrate.promoted')).toEqual([
      { version: 2, expectedVersion: 1, paths: ['c.md', 'notes/a.md'] },
    ]);
    expect(await readFile(join(files.agentDirectory(AGENT), 'substrate/notes/a.md'), 'utf8')).toBe('two\n');
  });
});
