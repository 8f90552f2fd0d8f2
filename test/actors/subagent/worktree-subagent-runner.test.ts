/** Worktrees around jobs: every way in which a job can end, with every way in which its worktree can be. */
import { afterEach, describe, expect, it } from 'vitest';
import { SubagentManager } from '../../../src/actors/subagent/subagent-manager.ts';
import type { SubagentJobStart } from '../../../src/actors/subagent/subagent-runner.ts';
import { SESSION_KEY } from '../../../src/machines/subagent/subagent-request.ts';
import type { SubagentSpawnRequest } from '../../../src/machines/subagent/subagent-request.ts';
import type { BackgroundTaskRunnerEvent } from '../../../src/machines/task/task-state.ts';
import { settled } from '../../support/manual-runner.ts';
import { agentTask, createMemoryWorktrees, createScriptedRunner } from '../../support/scripted-subagents.ts';
import type { WorktreeContent } from '../../support/scripted-subagents.ts';
import { isolated, managers, settledDeep, worktreeStage } from './worktree-stage.ts';
import type { WorktreeStage } from './worktree-stage.ts';

afterEach(async () => {
  await Promise.all(managers.splice(0).map((manager) => manager.shutdown()));
});

/** How a job may end: brought about, with the status that it ends with. */
const ENDINGS: Record<
  string,
  {
    readonly status: string;
    readonly timeoutReason?: string;
    readonly limits?: Partial<SubagentSpawnRequest>;
    readonly prepare?: (at: WorktreeStage) => void;
    readonly end: (at: WorktreeStage, jobId: string) => Promise<void> | void;
  }
> = {
  success: { status: 'completed', end: ({ inner }, id) => inner.of(id).resolve() },
  failure: { status: 'failed', end: ({ inner }, id) => inner.of(id).reject(new Error('broken')) },
  'a start that throws': {
    status: 'failed',
    prepare: ({ inner }) => {
      inner.onStart = () => {
        throw new Error('broken');
      };
    },
    end: () => undefined,
  },
  'a start that rejects': {
    status: 'failed',
    prepare: ({ inner }) => {
      inner.onStart = () => Promise.reject(new Error('broken'));
    },
    end: () => undefined,
  },
  'a cancel while it runs': { status: 'cancelled', end: ({ manager }, id) => manager.cancel(id) },
  'a cancel while it starts': {
    status: 'cancelled',
    prepare: ({ inner }) => {
      inner.onStart = ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
    },
    end: ({ manager }, id) => manager.cancel(id),
  },
  'the watchdog of a job that says nothing': {
    status: 'failed',
    timeoutReason: 'idle',
    end: async ({ clock }) => {
      await clock.advance(60_001);
    },
  },
  'the watchdog of a job that goes on for too long': {
    status: 'failed',
    timeoutReason: 'max_runtime',
    limits: { idleTimeoutMs: 0, maxRuntimeMs: 60_000 },
    end: async ({ clock }) => {
      await clock.advance(60_001);
    },
  },
  'a shutdown': { status: 'cancelled', end: ({ manager }) => manager.shutdown() },
};

const CONTENTS: readonly WorktreeContent[] = ['clean', 'dirty', 'unknown'];

describe.each(Object.entries(ENDINGS))(
  'a job that ends by %s',
  (_name, { status, timeoutReason, limits, prepare, end }) => {
    it.each(CONTENTS)('leaves a worktree that is %s as it must be left', async (content) => {
      const at = worktreeStage();
      at.worktrees.content = content;
      prepare?.(at);
      const { id } = await at.manager.spawn(isolated(limits));
      await settledDeep();
      await end(at, id);
      await at.manager.wait(id).catch(() => undefined);
      const job = at.manager.get(id);
      const [stored] = [...at.records.stored.values()];
      const isClean = content === 'clean';
      const handoff = {
        worktreePath: `/worktrees/${id}-1`,
        branchName: `agents/${id}-1`,
        worktreeStatus: isClean ? 'removed' : 'preserved',
        worktreeBaseRevision: 'abc',
        parentWorktreeStatus: '1 changed file',
      };
      expect(job).toMatchObject({ status, ...handoff });
      expect(job?.timeoutReason).toBe(timeoutReason);
      expect(stored).toMatchObject({ stage: 'ended', task: { status, ...handoff } });
      expect(at.log.told.at(-1)?.[1]).toMatchObject({
        worktree: { worktreePath: handoff.worktreePath, worktreeStatus: handoff.worktreeStatus },
      });
      expect(at.worktrees.calls.filter((call) => call === 'remove')).toHaveLength(isClean ? 1 : 0);
      expect(at.worktrees.present.size).toBe(isClean ? 0 : 1);
      if (isClean) expect(job?.worktreeNextAction).toBeUndefined();
      else expect(job?.worktreeNextAction).toContain('git');
      const beside = {
        worktreePath: handoff.worktreePath,
        branchName: handoff.branchName,
        worktreeStatus: handoff.worktreeStatus,
        baseRevision: 'abc',
        parentStatus: '1 changed file',
      };
      if (status === 'completed') expect(job?.resultMetadata).toMatchObject(beside);
      else expect(job?.failure?.details).toMatchObject(beside);
      if (status !== 'completed') await expect(at.manager.wait(id)).rejects.toMatchObject({ details: beside });
    });
  },
);

describe('a job in a worktree', () => {
  it('works in the folder that its own is there, and its state says where from the moment there is one', async () => {
    const { manager, inner, worktrees, records } = worktreeStage();
    let begin: () => void = () => undefined;
    worktrees.before = (method) => (method === 'begin' ? new Promise((resolve) => (begin = resolve)) : undefined);
    const { id } = await manager.spawn(isolated({ cwd: '/repo/packages/./core' }));
    await settled();
    expect([
      inner.works.length,
      manager.get(id)?.worktreePath,
      manager.get(id)?.worktreeStatus,
      manager.get(id)?.worktreeNextAction,
    ]).toEqual([0, `/worktrees/${id}-1`, 'ready', 'wait']);
    expect(records.stored.get(id)?.task).toMatchObject({
      worktreePath: `/worktrees/${id}-1`,
      branchName: `agents/${id}-1`,
    });
    begin();
    await settledDeep();
    expect(inner.of(id).start.request).toMatchObject({
      cwd: `/worktrees/${id}-1/packages/core`,
      worktreePath: `/worktrees/${id}-1`,
      branchName: `agents/${id}-1`,
    });
    expect(Object.isFrozen(inner.of(id).start.request)).toBe(true);
  });

  it.each(['/elsewhere', '/repo', '/repo/../etc', '/repository'])(
    'whose folder is %s works at the root',
    async (cwd) => {
      const { manager, inner } = worktreeStage();
      const { id } = await manager.spawn(isolated({ cwd }));
      await settledDeep();
      expect(inner.of(id).start.request.cwd).toBe(`/worktrees/${id}-1`);
    },
  );

  it('asks for the worktree by its session, so that going on with the session goes on with the worktree', async () => {
    const { manager, worktrees, inner } = worktreeStage({ keepFilesIn: ({ jobId }) => `/files/${jobId}` });
    const asked: unknown[] = [];
    const { prepare } = worktrees;
    worktrees.prepare = (request) => {
      asked.push(request);
      return prepare.call(worktrees, request);
    };
    const { id, metadata } = await manager.spawn(isolated());
    await settledDeep();
    expect(asked).toEqual([
      expect.objectContaining({ jobId: id, cwd: '/repo', key: metadata?.[SESSION_KEY], keepFilesIn: `/files/${id}` }),
    ]);
    expect(inner.of(id).start.request.isolation).toBe('worktree');
  });

  it('keeps what was said beside its result, under what is said of the worktree', async () => {
    const { manager, inner, worktrees } = worktreeStage();
    worktrees.content = 'dirty';
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    inner.of(id).resolve({ output: 'Fixed.', metadata: { usage: 3, branchName: 'said by the agent' } });
    const { output, metadata } = await manager.wait(id);
    expect(output).toBe('Fixed.');
    expect(metadata).toMatchObject({
      usage: 3,
      branchName: `agents/${id}-1`,
      worktreeStatusText: 'one commit ahead',
      worktreeFindings: [{ kind: 'committed' }],
    });
  });

  it('of another kind is handed on unchanged, and so is what comes of it', () => {
    const { runner, inner } = worktreeStage();
    const start = {
      jobId: 'j',
      request: agentTask({ isolation: 'none' }),
      emit: () => undefined,
      signal: new AbortController().signal,
    } satisfies SubagentJobStart;
    const handle = runner.start(start);
    expect(handle).not.toBeInstanceOf(Promise);
    expect(inner.of('j').start).toBe(start);
  });

  it('keeps everything of the handle of its work', async () => {
    const inner = createScriptedRunner({
      pid: 7,
      logPath: '/log',
      transcriptPath: '/transcript',
      readLog: (cursor) => ({ taskId: '', cursor, lines: ['line'] }),
    });
    const { manager } = worktreeStage({ runner: inner });
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    expect(manager.get(id)).toMatchObject({ pid: 7, logPath: '/log', transcriptPath: '/transcript' });
    expect((await manager.readLog(id)).lines).toEqual(['line']);
    await manager.send(id, 'More.');
    expect(inner.of(id).prompts).toEqual(['More.']);
  });

  it('is stopped while its worktree is being made, and nothing is left of that', async () => {
    const { manager, worktrees, inner } = worktreeStage();
    worktrees.before = (method) => (method === 'prepare' ? settledDeep() : undefined);
    const { id } = await manager.spawn(isolated());
    await manager.cancel(id);
    expect([
      manager.get(id)?.status,
      worktrees.present.size,
      inner.works.length,
      manager.get(id)?.worktreePath,
    ]).toEqual(['cancelled', 0, 0, undefined]);
  });

  it('that is stopped when its worktree has just been made removes it', async () => {
    const { manager, worktrees, inner } = worktreeStage();
    let begin: () => void = () => undefined;
    worktrees.before = (method) => (method === 'begin' ? new Promise((resolve) => (begin = resolve)) : undefined);
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    const cancelled = manager.cancel(id);
    begin();
    await cancelled;
    expect([inner.works.length, worktrees.present.size, manager.get(id)?.worktreeStatus]).toEqual([0, 0, 'removed']);
  });

  it('is settled once when a stop comes while its worktree is checked', async () => {
    const { manager, worktrees, inner } = worktreeStage();
    let check: () => void = () => undefined;
    worktrees.before = (method) => (method === 'inspect' ? new Promise((resolve) => (check = resolve)) : undefined);
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    inner.of(id).resolve();
    await settledDeep();
    const cancelled = manager.cancel(id);
    await settledDeep();
    check();
    await cancelled;
    expect(worktrees.calls.filter((call) => call === 'remove')).toHaveLength(1);
  });

  it('whose work cannot be proven gone keeps its worktree, clean or not, without examining it', async () => {
    const { manager, worktrees, inner } = worktreeStage();
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    inner.of(id).onCancel = () => Promise.reject(new Error('pid 7 lives'));
    await manager.cancel(id);
    expect(worktrees.calls).not.toContain('remove');
    expect(worktrees.calls).not.toContain('inspect');
    expect(manager.get(id)).toMatchObject({
      status: 'cancelled',
      worktreeStatus: 'preserved',
      error: expect.stringContaining('pid 7 lives'),
    });
    inner.of(id).resolve();
    await settledDeep();
    expect(worktrees.present.size).toBe(1);
  });

  it('that outlasts the patience of its stop says where its work lies as soon as that is known', async () => {
    const { inner, runner, clock, records, worktrees } = worktreeStage();
    const manager = new SubagentManager({ runner, records, clock, agentIdleTimeoutMs: 0, cancelDeadlineMs: 1_000 });
    managers.push(manager);
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    let gone: () => void = () => undefined;
    inner.of(id).onCancel = () => new Promise((resolve) => (gone = resolve));
    const cancelled = manager.cancel(id);
    await clock.advance(1_000);
    await cancelled;
    expect(manager.get(id)).toMatchObject({
      status: 'cancelled',
      error: expect.stringContaining('still not gone'),
      worktreeStatus: 'ready',
    });
    gone();
    await settledDeep();
    expect(manager.get(id)).toMatchObject({ status: 'cancelled', worktreeStatus: 'removed' });
    expect(records.stored.get(id)).toMatchObject({
      stage: 'ended',
      task: { status: 'cancelled', worktreeStatus: 'removed' },
    });
    expect(worktrees.present.size).toBe(0);
  });

  it('that completes while somebody stops it keeps its result, whatever its worktree takes', async () => {
    const { manager, inner, worktrees } = worktreeStage();
    let check: () => void = () => undefined;
    worktrees.before = (method) => (method === 'inspect' ? new Promise((resolve) => (check = resolve)) : undefined);
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    inner.of(id).resolve({ output: 'Fixed.' });
    await settledDeep();
    const cancelled = manager.cancel(id);
    check();
    await cancelled;
    expect(manager.get(id)).toMatchObject({ status: 'completed', result: 'Fixed.', worktreeStatus: 'removed' });
  });

  it('whose runner gives nothing that can be stopped keeps its worktree', async () => {
    const inner = { start: () => ({}) as never };
    const { manager, worktrees } = worktreeStage({ runner: inner });
    const { id } = await manager.spawn(isolated());
    await expect(manager.wait(id)).rejects.toMatchObject({
      code: 'SUBAGENT_RUNNER_HANDLE',
      details: { worktreeStatus: 'preserved' },
    });
    expect(worktrees.present.size).toBe(1);
  });
});

describe('an adapter of worktrees that fails', () => {
  const failing = (method: string) => (called: string) => {
    if (called === method) throw new Error(`${method} failed`);
  };

  it('at making one fails the job, whose agent never starts', async () => {
    const { manager, worktrees, inner } = worktreeStage();
    worktrees.before = failing('prepare');
    const { id } = await manager.spawn(isolated());
    await expect(manager.wait(id)).rejects.toThrow('prepare failed');
    expect([inner.works.length, manager.get(id)?.worktreeStatus]).toEqual([0, undefined]);
  });

  it.each([
    ['begin', 'preserved', true],
    ['inspect', 'preserved', true],
    ['remove', 'preserved', true],
  ] as const)('at %s keeps the worktree, and the result stays good', async (method, worktreeStatus, isKept) => {
    const { manager, worktrees, inner } = worktreeStage();
    worktrees.before = failing(method);
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    inner.of(id).resolve({ output: 'Fixed.' });
    const { output, metadata } = await manager.wait(id);
    expect([output, metadata?.['worktreeStatus'], worktrees.present.size === 1]).toEqual([
      'Fixed.',
      worktreeStatus,
      isKept,
    ]);
    expect(JSON.stringify(metadata)).toContain(`${method} failed`);
  });

  it.each(['getStatus', 'preserve'])('at %s is reported beside the result', async (method) => {
    const { manager, worktrees, inner } = worktreeStage();
    worktrees.content = 'dirty';
    worktrees.before = failing(method);
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    inner.of(id).resolve();
    expect((await manager.wait(id)).metadata).toMatchObject({
      worktreeStatus: 'preserved',
      worktreeProblems: [`${method}: ${method} failed`],
    });
  });

  it('to answer keeps the worktree when its time is over', async () => {
    const { manager, worktrees, inner, clock } = worktreeStage({ adapterTimeoutMs: 1_000 });
    worktrees.before = (method) => (method === 'inspect' ? new Promise(() => undefined) : undefined);
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    inner.of(id).resolve();
    await settledDeep();
    await clock.advance(1_000);
    await settledDeep();
    expect((await manager.wait(id)).metadata).toMatchObject({
      worktreeStatus: 'preserved',
      worktreeFindings: [{ kind: 'unknown' }],
    });
    expect(worktrees.present.size).toBe(1);
  });

  it.each([
    ['a worktree', { prepare: () => ({ worktreePath: '' }) }, 'failed'],
    ['an inspection', { inspect: () => true }, 'completed'],
    ['a yes or no', { inspect: undefined, isClean: () => 'yes' }, 'completed'],
  ])('to answer with %s is not believed', async (_what, methods, status) => {
    const adapter = Object.assign(createMemoryWorktrees(), methods) as ReturnType<typeof createMemoryWorktrees>;
    const { manager, inner } = worktreeStage({ worktreeAdapter: adapter });
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    inner.works[0]?.resolve();
    await manager.wait(id).catch(() => undefined);
    expect(manager.get(id)?.status).toBe(status);
    if (status === 'completed')
      expect([adapter.present.size, manager.get(id)?.worktreeStatus]).toEqual([1, 'preserved']);
  });

  it('with nothing but the bare minimum, all of it synchronous, does', async () => {
    const removed: string[] = [];
    const bare = {
      prepare: () => ({ repoRoot: '/repo', worktreePath: '/w t', branchName: 'b' }),
      isClean: () => removed.length > 0,
      remove: ({ worktreePath }: { readonly worktreePath: string }) => void removed.push(worktreePath),
    };
    const { manager, inner } = worktreeStage({ worktreeAdapter: bare });
    const first = await manager.spawn(isolated());
    await settledDeep();
    inner.of(first.id).resolve();
    expect((await manager.wait(first.id)).metadata).toMatchObject({
      worktreeStatus: 'preserved',
      worktreeNextAction: expect.stringContaining(`git -C '/w t' status`),
    });
    removed.push('');
    const second = await manager.spawn(isolated());
    await settledDeep();
    inner.of(second.id).resolve();
    expect((await manager.wait(second.id)).metadata).toMatchObject({ worktreeStatus: 'removed' });
    expect(removed).toEqual(['', '/w t']);
  });
});

describe('progress of a worktree', () => {
  it('is told with every state that it comes to', async () => {
    const { runner, inner } = worktreeStage();
    const said: BackgroundTaskRunnerEvent[] = [];
    const handle = await runner.start({
      jobId: 'j',
      request: agentTask({ isolation: 'worktree' }),
      emit: (event) => said.push(event),
      signal: new AbortController().signal,
    });
    inner.of('j').resolve();
    await handle.result;
    const statuses = said.flatMap((event) =>
      event.type === 'background_task_progress' ? [event.progress.worktreeStatus] : [],
    );
    expect(statuses).toEqual(['creating', 'ready', 'inspecting', 'removing', 'removed']);
  });
});
