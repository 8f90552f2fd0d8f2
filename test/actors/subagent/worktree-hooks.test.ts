/** Hooks around the worktree of a job: what they hear, what their failure means, and how they are stopped. */
import { afterEach, describe, expect, it } from 'vitest';
import type { WorktreeHookInput } from '../../../src/machines/subagent/hook-config.ts';
import { isolated, managers, settledDeep, worktreeStage } from './worktree-stage.ts';
import type { WorktreeStage } from './worktree-stage.ts';

afterEach(async () => {
  await Promise.all(managers.splice(0).map((manager) => manager.shutdown()));
});

describe('the hooks of a worktree', () => {
  it('hear of it when it has been made and when it has been removed, each before the next thing happens', async () => {
    const heard: [WorktreeHookInput, number, number][] = [];
    const at: WorktreeStage = worktreeStage({
      hooks: {
        WorktreeCreate: (input) => void heard.push([input, at.inner.works.length, at.worktrees.present.size]),
        WorktreeRemove: [(input) => void heard.push([input, at.inner.works.length, at.worktrees.present.size])],
      },
    });
    const { id } = await at.manager.spawn(isolated({ cwd: '/repo/core', parentSessionId: 's' }));
    await settledDeep();
    at.inner.of(id).resolve();
    await at.manager.wait(id);
    const tool_input = {
      jobId: id,
      agentType: 'fixer',
      worktreePath: `/worktrees/${id}-1`,
      branchName: `agents/${id}-1`,
    };
    expect(heard).toEqual([
      [
        {
          session_id: 's',
          cwd: `/worktrees/${id}-1/core`,
          hook_event_name: 'WorktreeCreate',
          tool_name: 'Agent',
          tool_input: { ...tool_input, removed: false },
        },
        0,
        1,
      ],
      [
        {
          session_id: 's',
          cwd: '/repo/core',
          hook_event_name: 'WorktreeRemove',
          tool_name: 'Agent',
          tool_input: { ...tool_input, removed: true },
        },
        1,
        0,
      ],
    ]);
    expect(at.worktrees.calls).toEqual(['prepare', 'begin', 'inspect', 'remove']);
  });

  it('say nothing of one that is kept', async () => {
    const heard: string[] = [];
    const { manager, inner, worktrees } = worktreeStage({
      hooks: { WorktreeRemove: () => void heard.push('removed') },
    });
    worktrees.content = 'dirty';
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    inner.of(id).resolve();
    await manager.wait(id);
    expect(heard).toEqual([]);
  });

  it('fail the job when one fails at its beginning, and undo the worktree', async () => {
    const ran: string[] = [];
    const { manager, inner, worktrees } = worktreeStage({
      hooks: {
        WorktreeCreate: [
          () => {
            throw new Error('npm ci failed');
          },
          () => void ran.push('second'),
        ],
      },
    });
    const { id } = await manager.spawn(isolated());
    await expect(manager.wait(id)).rejects.toMatchObject({
      code: 'SUBAGENT_HOOK_FAILED',
      message: expect.stringContaining('npm ci failed'),
      details: { worktreeStatus: 'removed' },
    });
    expect([inner.works.length, worktrees.present.size, ran]).toEqual([0, 0, []]);
  });

  it('that fail at its end are reported beside the result', async () => {
    const { manager, inner, worktrees } = worktreeStage({
      hooks: { WorktreeRemove: () => Promise.reject(new Error('nope')) },
    });
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    inner.of(id).resolve();
    expect((await manager.wait(id)).metadata).toMatchObject({
      worktreeStatus: 'removed',
      worktreeProblems: [expect.stringContaining('nope')],
    });
    expect(worktrees.present.size).toBe(0);
  });

  it('that hang are given up when their time is over; one that does not stop then keeps the worktree', async () => {
    let aborted = 0;
    const { manager, worktrees, clock } = worktreeStage({
      hookTimeoutMs: 1_000,
      hooks: {
        WorktreeCreate: (_input, { signal }) =>
          new Promise(() => signal.addEventListener('abort', () => (aborted += 1))),
      },
    });
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    await clock.advance(1_000);
    await settledDeep();
    expect([aborted, manager.get(id)?.status]).toEqual([1, 'running']);
    await clock.advance(10_000);
    await settledDeep();
    await expect(manager.wait(id)).rejects.toMatchObject({
      code: 'SUBAGENT_HOOK_TIMEOUT',
      category: 'timeout',
      details: { worktreeStatus: 'preserved' },
    });
    expect(worktrees.present.size).toBe(1);
  });

  it('that run when their job is stopped are stopped with it', async () => {
    const { manager, worktrees } = worktreeStage({
      hooks: {
        WorktreeCreate: (_input, { signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
      },
    });
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    await manager.cancel(id);
    expect([manager.get(id)?.status, worktrees.present.size, manager.get(id)?.worktreeStatus]).toEqual([
      'cancelled',
      0,
      'removed',
    ]);
  });

  it('are executed by who executes their type, where they are meant for agents', async () => {
    const runs: unknown[] = [];
    const { manager, inner } = worktreeStage({
      hooks: {
        WorktreeCreate: [
          { matcher: 'Agent|Task', hooks: [{ type: 'note', text: 'a' }] },
          { matcher: 'Bash', hooks: [{ type: 'note', text: 'b' }] },
          { matcher: '*', hooks: [{ type: 'note', text: 'c' }] },
          { hooks: [{ type: 'note', text: 'd' }] },
        ],
      },
      hookTypeExecutors: { note: ({ hook, cwd }) => void runs.push([hook['text'], cwd]) },
    });
    const { id } = await manager.spawn(isolated());
    await settledDeep();
    expect(inner.of(id)).toBeDefined();
    expect(runs).toEqual(['a', 'c', 'd'].map((text) => [text, `/worktrees/${id}-1`]));
  });

  it.each([
    ['a type that nobody executes', { WorktreeCreate: [{ hooks: [{ type: 'http' }] }] }],
    ['a name that is no event', { WorktreeCreated: [] }],
    ['a matcher that is no pattern', { WorktreeCreate: [{ matcher: '(', hooks: [] }] }],
    ['a function hook without a function', { WorktreeCreate: [{ hooks: [{ type: 'function' }] }] }],
    [
      'a time that is none',
      { WorktreeCreate: [{ hooks: [{ type: 'function', run: () => undefined, timeoutMs: -1 }] }] },
    ],
  ])('with %s are refused before anything runs', (_what, hooks) => {
    expect(() => worktreeStage({ hooks: hooks as never })).toThrow(
      expect.objectContaining({ code: 'SUBAGENT_HOOKS_INVALID', category: 'validation' }),
    );
  });

  it('have limits that are checked', () => {
    expect(() => worktreeStage({ hookTimeoutMs: 0 })).toThrow(expect.objectContaining({ category: 'validation' }));
    expect(() => worktreeStage({ adapterTimeoutMs: Number.NaN })).toThrow(
      expect.objectContaining({ category: 'validation' }),
    );
  });
});
