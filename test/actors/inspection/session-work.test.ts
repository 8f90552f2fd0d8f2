/** What works for a session, and what it has changed, as an inspector sees it. */
import { describe, expect, it } from 'vitest';
import type { FolderChanges, FolderDifference } from '../../../src/actors/inspection/folder-changes.ts';
import { createRuntimeSource } from '../../../src/actors/inspection/runtime-source.ts';
import type { ClosableSource, RuntimeSourceOptions } from '../../../src/actors/inspection/runtime-source.ts';
import type { TaskElsewhere } from '../../../src/actors/task/task-elsewhere.ts';
import type { ProcessTree, ReconciledProcessTree } from '../../../src/actors/task/process-tree.ts';
import type { KeptWorktree } from '../../../src/actors/subagent/worktree-adapter.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { BackgroundTaskError } from '../../../src/machines/task/task-error.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import type { BackgroundTaskState } from '../../../src/machines/task/task-state.ts';
import type { SessionFilter } from '../../../src/machines/session/session-requests.ts';
import { SESSION_ID, UNBOUND, created, foldAll, idOf, logOf } from '../../support/session-events.ts';
import type { Sessions } from '../../../src/actors/session/sessions.ts';
import { until } from '../../support/session-setup.ts';

const CHILD = idOf(900);
const JOB: SessionEventDraft = {
  type: 'subagent.started',
  data: { jobId: 'agent_1', childSessionId: CHILD, agentId: 'helper', label: 'helps', restriction: UNBOUND },
};

/** A source over one session with these events in its log. */
function sourceOf(
  options: Partial<RuntimeSourceOptions>,
  ...drafts: readonly SessionEventDraft[]
): {
  readonly source: ClosableSource;
  readonly problems: unknown[];
  readonly clock: ReturnType<typeof createSimulatedClock>;
} {
  const log = logOf(created, ...drafts);
  const state = foldAll(log);
  const problems: unknown[] = [];
  const clock = createSimulatedClock();
  const sessions = {
    list: async () => [state],
    status: async () => state,
    events: async function* events(_id: string, { from = 1 }: { readonly from?: number } = {}) {
      yield* log.filter(({ seq }) => seq >= from);
    } as unknown as Sessions['events'],
    send: async () => {
      throw new Error('no answer here');
    },
    hasWakeDied: async () => false,
  };
  return {
    source: createRuntimeSource({
      title: 'x',
      sessions,
      clock,
      onProblem: (error) => void problems.push(error),
      ...options,
    }),
    problems,
    clock,
  };
}

function task(id: string, more: Partial<BackgroundTaskState>): BackgroundTaskState {
  return {
    id,
    kind: 'process',
    label: id,
    status: 'running',
    mode: 'foreground',
    parentSessionId: SESSION_ID,
    depth: 0,
    cwd: '/',
    updatedAt: '2026-01-01T00:00:00.000Z',
    unread: false,
    ...more,
  };
}

const tasksOf = (...tasks: readonly BackgroundTaskState[]): RuntimeSourceOptions['tasks'] => [
  { list: () => [...tasks], cancel: async () => undefined },
];
const treesOf = (
  ...reports: readonly ReconciledProcessTree[]
): Pick<ProcessTree, 'reconcile'> & { readonly policies: unknown[] } => {
  const policies: unknown[] = [];
  return {
    policies,
    reconcile: async (options) => {
      policies.push(options?.policy);
      return reports;
    },
  };
};

describe('a list of 10,000 sessions', () => {
  it('begins with those that were made last where it takes long, then comes with as many as are asked for, leaves the event loop to others, and is kept for as long as it took', async () => {
    const states = Array.from({ length: 10_000 }, (_, index) => ({
      ...foldAll(logOf(created)),
      sessionId: idOf(index),
    }));
    const clock = createSimulatedClock();
    let lists = 0;
    let tell = (): void => undefined;
    const told = new Promise<void>((resolve) => (tell = resolve));
    const sessions = {
      list: async ({ newest }: SessionFilter = {}) => {
        if (newest !== undefined) return states.slice(-newest);
        lists += 1;
        await told;
        return states;
      },
      status: async () => states[0] as (typeof states)[number],
      events: undefined as unknown as Sessions['events'],
      send: undefined as unknown as Sessions['send'],
      hasWakeDied: async () => false,
    };
    const many = createRuntimeSource({ title: 'x', sessions, clock, onProblem: () => undefined });
    const soon = many.sessions({ limit: 3 });
    await clock.advance(250);
    expect(await soon).toMatchObject({
      total: 3,
      isPartial: true,
      sessions: [{ sessionId: idOf(9_999) }, { sessionId: idOf(9_998) }, { sessionId: idOf(9_997) }],
    });
    expect(many.about().notes).toEqual([expect.stringMatching(/still being read/)]);
    await clock.advance(2_750);
    tell();
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 1);
    const { sessions: shown, total, isPartial } = await many.sessions({ limit: 1_000 });
    clearInterval(counting);
    expect([shown.length, shown[0]?.sessionId, total, isPartial, turns > 0]).toEqual([
      1_000,
      idOf(9_999),
      10_000,
      undefined,
      true,
    ]);
    expect(many.about().notes).toEqual([]);
    expect(shown[0]?.why).toMatchObject({ kind: 'nothing', text: expect.any(String) });
    await many.sessions({ limit: 5 });
    expect(lists).toBe(1);
    await clock.advance(3_000);
    await many.sessions({ limit: 5 });
    expect(lists).toBe(2);
  });
});

describe('the processes of a session', () => {
  it('are those of its tasks, its jobs and what works for those, each under its parent', async () => {
    const tasks = tasksOf(
      task('t1', { pid: 10, commandPreview: 'make all', startedAt: '2026-01-01T00:00:00.000Z' }),
      task('t2', { pid: 11, parentTaskId: 't1', status: 'completed' }),
      task('agent_1', { kind: 'agent', pid: 20, label: 'helps', metadata: { 'wakechart.sessionId': CHILD } }),
      task('t3', { pid: 21, parentSessionId: CHILD }),
      task('t4', { parentSessionId: SESSION_ID }),
      task('t5', { pid: 99, parentSessionId: idOf(5) }),
    );
    const { source } = sourceOf({ tasks }, JOB);
    expect(await source.processes(SESSION_ID)).toEqual([
      {
        pid: 10,
        title: 'make all',
        state: 'running',
        host: 'this',
        startedAt: '2026-01-01T00:00:00.000Z',
        taskId: 't1',
      },
      { pid: 11, parentPid: 10, title: 't2', state: 'gone', host: 'this', taskId: 't2' },
      { pid: 20, title: 'helps', state: 'running', host: 'this', taskId: 'agent_1' },
      { pid: 21, parentPid: 20, title: 't3', state: 'running', host: 'this', taskId: 't3' },
    ]);
  });

  it('are also those that a host which died has left of its jobs; checking ends nothing', async () => {
    const processTree = treesOf(
      {
        tag: 'a',
        taskId: 'agent_1',
        pid: 30,
        action: 'left',
        reason: 'host_dead',
        survivors: [{ pid: 31, startTime: '1' }],
      },
      { tag: 'b', taskId: 'other', pid: 40, action: 'left', reason: 'host_dead', survivors: [] },
    );
    const { source } = sourceOf({ processTree }, JOB);
    expect(await source.processes(SESSION_ID)).toEqual([
      { pid: 30, title: 'job helps', state: 'gone', host: 'dead', taskId: 'agent_1' },
      { pid: 31, parentPid: 30, title: 'job helps', state: 'running', host: 'dead', taskId: 'agent_1' },
    ]);
    expect(processTree.policies).toEqual(['report']);
  });

  it('are told by their command lines, without secrets, and jobs by their names with them', async () => {
    const survivors = [30, 31, 32].map((pid) => ({ pid, startTime: '1', parentPid: pid - 1, name: 'node' }));
    const reports = treesOf({ tag: 'a', taskId: 'agent_1', pid: 30, action: 'left', reason: 'host_dead', survivors });
    const usageOf = async (pid: number) =>
      pid === 32 ? undefined : { commandLine: ['node', `worker-${pid}.js`, '--token', 'hidden', 'a b'] };
    const { source } = sourceOf({ processTree: { reconcile: reports.reconcile, usageOf } }, JOB);
    expect((await source.processes(SESSION_ID)).map(({ title, commandLine }) => [title, commandLine])).toEqual([
      ['job helps', 'node worker-30.js --token … "a b"'],
      ['node worker-31.js --token … "a b"', undefined],
      ['node', undefined],
    ]);
    const asked: number[] = [];
    const untold = async (pid: number) => ({ processorMs: asked.push(pid) });
    const other = sourceOf({ processTree: { reconcile: reports.reconcile, usageOf: untold } }, JOB).source;
    expect((await other.processes(SESSION_ID)).map(({ title }) => title)).toEqual(['job helps', 'node', 'node']);
    expect(asked).toEqual([30]);
  });

  it('of another process over the home are cancelled by that one, but for programs that are no task', async () => {
    const cancelled: unknown[] = [];
    const tree = (taskId: string, pid: number): ReconciledProcessTree => ({
      ...{ tag: taskId, taskId, sessionId: SESSION_ID, pid },
      host: { pid: 9, token: 'boot-1-0123456789' },
      action: 'left',
      reason: 'host_alive',
      survivors: [{ pid, startTime: '1' }],
    });
    const { source } = sourceOf({
      processTree: treesOf(tree('task_1', 50), tree('mcp server x', 60), tree('task_2', 70), tree('task_3', 80)),
      tasksElsewhere: {
        cancel: async (...given) => {
          const code = { 2: 'TASK_NOT_FOUND', 3: 'TASK_LEFT_RUNNING' }[given[0].slice(-1)];
          if (code !== undefined) throw new BackgroundTaskError('process', 'no', { code });
          cancelled.push(given);
          return {} as TaskElsewhere;
        },
      },
    });
    await source.endProcess?.(SESSION_ID, 50);
    expect(cancelled).toEqual([['01234567/task_1', 'a person ended it in the inspector']]);
    for (const [pid, why] of Object.entries({ 60: 'ELSEWHERE', 70: 'GONE', 80: 'LEFT' }))
      await expect(source.endProcess?.(SESSION_ID, +pid)).rejects.toMatchObject({ code: `INSPECTION_PROCESS_${why}` });
  });

  it('of another process are never taken for a task of this one that has the same id, nor ended with it', async () => {
    const cancelled: string[] = [];
    const reconciled: unknown[] = [];
    const tree = (tag: string, pid: number, reason: 'host_alive' | 'host_dead'): ReconciledProcessTree => ({
      tag,
      taskId: 'task_1',
      sessionId: SESSION_ID,
      commandPreview: tag,
      pid,
      action: 'left',
      reason,
      survivors: [
        { pid, startTime: '1', parentPid: 1 },
        { pid: pid + 1, startTime: '1', parentPid: pid, name: 'node' },
      ],
    });
    const { source } = sourceOf({
      tasks: [
        {
          list: () => [task('task_1', { pid: 10, commandPreview: 'mine' })],
          cancel: async (id: string) => void cancelled.push(id),
        },
      ],
      processTree: {
        reconcile: async (options = {}) => {
          if (options.policy === 'report')
            return [tree('mine', 10, 'host_alive'), tree('theirs', 50, 'host_alive'), tree('left', 70, 'host_dead')];
          reconciled.push(options);
          return reconciled.length === 1 ? [] : [{ ...tree('left', 70, 'host_dead'), reason: 'not_ended' }];
        },
      },
    });
    expect((await source.processes(SESSION_ID)).map(({ pid, title, host }) => [pid, title, host])).toEqual([
      [10, 'mine', 'this'],
      [11, 'node', 'this'],
      [50, 'theirs', 'other'],
      [51, 'node', 'other'],
      [70, 'left', 'dead'],
      [71, 'node', 'dead'],
    ]);
    await expect(source.endProcess?.(SESSION_ID, 51)).rejects.toMatchObject({ code: 'INSPECTION_PROCESS_ELSEWHERE' });
    await expect(source.endProcess?.(SESSION_ID, 99)).rejects.toMatchObject({ code: 'INSPECTION_PROCESS_GONE' });
    expect([cancelled, reconciled]).toEqual([[], []]);
    await source.endProcess?.(SESSION_ID, 11);
    await source.endProcess?.(SESSION_ID, 71);
    expect([cancelled, reconciled]).toEqual([['task_1'], [{ tag: 'left' }]]);
    await expect(source.endProcess?.(SESSION_ID, 70)).rejects.toMatchObject({ code: 'INSPECTION_PROCESS_LEFT' });
  });

  it('have nothing secret in what they are called, and are bounded', async () => {
    const many = Array.from({ length: 1_500 }, (_, index) =>
      task(`t${index}`, { pid: index + 1, commandPreview: `run --key hunter2hunter2 ${'x'.repeat(1_000)}` }),
    );
    const { source } = sourceOf({
      tasks: tasksOf(...many),
      redact: (text) => text.replaceAll('hunter2hunter2', '[redacted]'),
    });
    const processes = await source.processes(SESSION_ID);
    expect([processes.length, processes[0]?.title.length, JSON.stringify(processes).includes('hunter2')]).toEqual([
      1_000,
      500,
      false,
    ]);
  });

  it('are read from their records once for all who ask within some seconds, and anew when something was ended', async () => {
    const processTree = treesOf();
    const { source, clock } = sourceOf({ processTree }, JOB);
    await Promise.all([source.processes(SESSION_ID), source.processes(SESSION_ID)]);
    await source.processes(SESSION_ID);
    expect(processTree.policies).toHaveLength(1);
    await clock.advance(3_000);
    await source.processes(SESSION_ID);
    expect(processTree.policies).toHaveLength(2);
    await expect(source.endProcess?.(SESSION_ID, 99)).rejects.toMatchObject({ code: 'INSPECTION_PROCESS_GONE' });
    await source.processes(SESSION_ID);
    expect(processTree.policies).toHaveLength(4);
  });

  it('of others are left out where their records cannot be read', async () => {
    const { source, problems } = sourceOf(
      {
        tasks: tasksOf(task('t1', { pid: 10 })),
        processTree: { reconcile: () => Promise.reject(new Error('EACCES')) },
      },
      JOB,
    );
    expect([(await source.processes(SESSION_ID)).length, problems.length]).toEqual([1, 1]);
  });
});

const NONE: FolderDifference = { files: [], fileCount: 0, difference: '', isCut: false };
const worktree = (more: Partial<KeptWorktree>): KeptWorktree => ({
  id: 'w',
  jobId: 'agent_1',
  status: 'ready',
  createdAt: '2026-01-01T00:00:00.000Z',
  isOwned: true,
  findings: [],
  repoRoot: '/r',
  worktreePath: '/w',
  branchName: 'b',
  ...more,
});

function checking(read: FolderChanges['read'], worktrees: readonly KeptWorktree[] = []): Partial<RuntimeSourceOptions> {
  return {
    changes: { folders: { read }, workspaceOf: () => '/workspace', worktrees: { list: async () => worktrees } },
  };
}

describe('the changes of a session', () => {
  it('are those of its workspace, then of the worktrees of its jobs and children since they were made', async () => {
    const checks: unknown[] = [];
    const subflow: SessionEventDraft = {
      type: 'agent.subflow_started',
      data: {
        callId: 'c1',
        childSessionId: idOf(901),
        agentId: 'writer',
        message: 'Write.',
        isolation: 'worktree',
        restriction: UNBOUND,
      },
    };
    const call: SessionEventDraft = {
      type: 'agent.tool_use',
      data: { callId: 'c1', name: 'delegate', input: {}, spanId: 's' },
    };
    const kept = [
      worktree({ baseRevision: 'f'.repeat(40) }),
      worktree({ id: 'v', worktreePath: '/v', jobId: 'x', key: `${SESSION_ID}/${idOf(901)}` }),
      worktree({ id: 'u', worktreePath: '/u', jobId: 'another' }),
    ];
    const { source } = sourceOf(
      checking(async (folder, { since }) => {
        checks.push([folder, since]);
        return { ...NONE, branch: folder };
      }, kept),
      JOB,
      call,
      subflow,
    );
    expect((await source.changes(SESSION_ID)).map(({ title, branch }) => [title, branch])).toEqual([
      ['the workspace', '/workspace'],
      ['the worktree of helps', '/w'],
      ['the worktree of writer', '/v'],
    ]);
    expect(checks).toEqual([
      ['/workspace', undefined],
      ['/w', 'f'.repeat(40)],
      ['/v', undefined],
    ]);
  });

  it('are checked since it began, with at most 20 commits and nothing secret in what they are called', async () => {
    const checks: unknown[] = [];
    const commit = {
      hash: 'a'.repeat(40),
      subject: `hunter2hunter2 ${'x'.repeat(1_000)}`,
      at: '2026-01-01T00:00:00.000Z',
    };
    const { source } = sourceOf({
      ...checking(async (_folder, { begunAt }) => {
        checks.push(begunAt);
        return { ...NONE, since: 'hunter2hunter2', commits: Array.from({ length: 30 }, () => commit), commitCount: 30 };
      }),
      redact: (text) => text.replaceAll('hunter2hunter2', '[redacted]'),
    });
    const [changes] = await source.changes(SESSION_ID);
    expect(checks).toEqual([Date.parse(foldAll(logOf(created)).createdAt ?? '')]);
    expect([
      changes?.since,
      changes?.commits?.length,
      changes?.commitCount,
      changes?.commits?.[0]?.subject.slice(0, 12),
      changes?.commits?.[0]?.subject.length,
    ]).toEqual(['[redacted]', 20, 30, '[redacted] x', 300]);
  });

  it('are of a home that is told where commands can name it', () => {
    expect(sourceOf({ home: '/the home' }).source.about().home).toBe('/the home');
    expect(sourceOf({}).source.about().home).toBeUndefined();
    expect(
      sourceOf({
        home: '/of/hunter2hunter2',
        redact: (text) => text.replaceAll('hunter2hunter2', '[redacted]'),
      }).source.about(),
    ).not.toHaveProperty('home');
  });

  it('are in the folder that the session is told to work in', async () => {
    const { source } = sourceOf(checking(async () => NONE));
    expect((await source.session(SESSION_ID))?.workspace).toBe('/workspace');
    expect((await sourceOf({}).source.session(SESSION_ID))?.workspace).toBeUndefined();
  });

  it('have nothing secret in them, also where they are cut in the middle of it', async () => {
    const secret = 'hunter2hunter2';
    const difference = `${'x'.repeat(256 * 1024 - 5)}${secret}${'y'.repeat(20_000)}`;
    const { source } = sourceOf({
      ...checking(async (_folder, { maxCharacters }) => ({
        ...NONE,
        branch: secret,
        files: [{ path: secret, change: 'added' }],
        fileCount: 1,
        difference: difference.slice(0, maxCharacters),
        isCut: false,
      })),
      redact: (text) => text.replaceAll(secret, '[redacted]'),
    });
    const [changes] = await source.changes(SESSION_ID);
    expect([
      changes?.difference.includes('hunte'),
      changes?.isCut,
      (changes?.difference.length ?? 0) <= 256 * 1024,
      JSON.stringify(changes).includes('hunter2'),
    ]).toEqual([false, true, true, false]);
  });

  it('that cannot be checked say why, and others are shown all the same', async () => {
    const { source, problems } = sourceOf(
      checking(
        async (folder) => (folder === '/w' ? NONE : Promise.reject(new Error('git ended with exit code 128'))),
        [worktree({})],
      ),
      JOB,
    );
    expect(await source.changes(SESSION_ID)).toMatchObject([
      { because: 'it could not be checked (git ended with exit code 128)' },
      { title: 'the worktree of helps' },
    ]);
    expect(problems).toHaveLength(1);
  });

  it('are given up after a while, and checked once for all who ask', async () => {
    const signals: AbortSignal[] = [];
    const { source, clock } = sourceOf(
      checking(
        (_folder, { signal }) =>
          new Promise((_resolve, reject) => {
            if (signal === undefined) return;
            signals.push(signal);
            signal.addEventListener('abort', () => reject(new Error('given up')));
          }),
      ),
    );
    const checks = Promise.all([source.changes(SESSION_ID), source.changes(SESSION_ID)]);
    await until(() => signals.length > 0);
    await clock.advance(8_000);
    expect(await checks).toMatchObject([
      [{ because: 'it took too long to check' }],
      [{ because: 'it took too long to check' }],
    ]);
    expect([signals.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('are none where none checks', async () => {
    expect(await sourceOf({}).source.changes(SESSION_ID)).toEqual([]);
  });
});
