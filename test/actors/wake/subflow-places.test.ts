/** Where the agents that answer calls work: in a process of their own, in a worktree of their own, or both. */
import { afterEach, describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot, InspectionEvent } from 'xstate';
import type { SubagentRunner } from '../../../src/actors/subagent/subagent-runner.ts';
import { BackgroundTaskError } from '../../../src/machines/task/task-error.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { createNotedKeeper } from '../../support/noted-keeper.ts';
import type { NotedKeeper } from '../../support/noted-keeper.ts';
import { until } from '../../support/session-setup.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Model, Said, TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
let keeper: NotedKeeper;
/** Stands for the processes that are started: another runtime over the same store. */
let other: Runtime;
let started: string[];
let deaths: number;
/** Why no process can be started. */
let refusal: Error | undefined;
/** What the actors of worktrees have lived through. */
let lives: string[];
afterEach(() => setup[Symbol.asyncDispose]());

const DO: Said = { calls: [{ name: 'helper', input: { message: 'Do it.' } }] };

interface Place {
  readonly run?: 'process' | 'in-process';
  readonly isolation?: 'worktree' | 'none';
}

async function open(
  place: Place,
  helper: Model | readonly Said[],
  lead: readonly Said[] = [DO, { text: 'All done.' }],
): Promise<string> {
  const { tool } = noteTools();
  const tools = [tool('check'), tool('launch', { permissionPolicy: 'always_ask' })];
  setup = await openTurnSetup({ tools });
  keeper = createNotedKeeper(setup.layout.home);
  started = [];
  deaths = 0;
  refusal = undefined;
  lives = [];
  other = setup.runtime;
  setup.open({ subagents: { processRunner: runner(), worktrees: keeper, inspect: note } });
  await setup.agent('helper', helper, { tools: ['check', 'launch'] });
  await setup.agent('lead', lead, { tools: [{ agent: 'helper', ...place }] });
  return setup.start('lead');
}

const note = (event: InspectionEvent): void => {
  if (
    event.type !== '@xstate.snapshot' ||
    !String('id' in event.actorRef ? event.actorRef.id : '').endsWith('.worktree')
  )
    return;
  const { value } = event.snapshot as AnyMachineSnapshot;
  if (lives.at(-1) !== value) lives.push(String(value));
};

const runner = (): SubagentRunner => ({
  async start(start) {
    started.push(start.request.agentType);
    if (refusal !== undefined) throw refusal;
    const handle = await other.localSubagents.start(start);
    if (deaths === 0) return handle;
    deaths -= 1;
    return { ...handle, result: handle.result.then(() => Promise.reject(new BackgroundTaskError('crash', 'killed'))) };
  },
});

async function childOf(parent: string): Promise<string> {
  const [child] = await setup.children(parent);
  if (child === undefined) throw new Error('it has no child');
  return child;
}

describe('an agent that is called', () => {
  it('works in a process of its own if its attachment says so, and its answer is the result', async () => {
    const parent = await open({ run: 'process' }, [{ calls: [{ name: 'check' }] }, { text: 'I checked.' }]);
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'sleep', summary: 'All done.' });
    expect(started).toEqual(['helper']);
    const child = await childOf(parent);
    expect(await setup.state(child)).toMatchObject({ runsIn: 'process', parent: { sessionId: parent } });
    expect(await setup.dataOf(child, 'wake.started')).toMatchObject([{ owner: 'process_1' }]);
    expect(await setup.results(parent)).toMatchObject([{ outcome: 'completed', output: { output: 'I checked.' } }]);
  });

  it('works where its caller does if nothing is said', async () => {
    const parent = await open({ run: 'in-process', isolation: 'none' }, [{ text: 'Here.' }]);
    await setup.runtime.wake(parent);
    expect([started, keeper.calls]).toEqual([[], []]);
    expect(await setup.dataOf(await childOf(parent), 'wake.started')).toMatchObject([{ owner: 'process_2' }]);
  });

  it('has its process again when somebody wakes it later, whoever that is', async () => {
    const parent = await open({ run: 'process' }, [{ calls: [{ name: 'launch' }] }, { text: 'Launched.' }]);
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'requires_action' });
    const child = await childOf(parent);
    await setup.confirm(child);
    await setup.settle();
    expect(started).toEqual(['helper', 'helper']);
    expect(await setup.results(parent)).toMatchObject([{ outcome: 'completed', output: { output: 'Launched.' } }]);
  });

  it('whose process cannot be started fails its call, and the model reads why', async () => {
    const parent = await open({ run: 'process' }, [{ text: 'Never said.' }]);
    refusal = new BackgroundTaskError('process', 'the subagent worker could not be forked: spawn node ENOENT');
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'sleep', summary: 'All done.' });
    expect(setup.asked.at(-1)?.read).toContain('could not be forked: spawn node ENOENT');
    expect(await setup.results(parent)).toMatchObject([{ outcome: 'failed' }]);
    expect(await setup.state(await childOf(parent))).toMatchObject({ status: 'terminated' });
  });

  it('whose process cannot be started now, since too many run, waits for its turn', async () => {
    const parent = await open({ run: 'process' }, [{ text: 'Said later.' }]);
    refusal = new BackgroundTaskError('capacity', 'too many');
    await setup.runtime.wake(parent);
    refusal = undefined;
    await setup.settle();
    expect(await setup.results(parent)).toMatchObject([{ outcome: 'completed', output: { output: 'Said later.' } }]);
  });

  it('is stopped with the wake of its caller, and has stopped when that has', async () => {
    let isAsked = false;
    const parent = await open({ run: 'process' }, async ({ abortSignal }) => {
      isAsked = true;
      await new Promise((resolve) => abortSignal?.addEventListener('abort', resolve));
      return {};
    });
    const stop = new AbortController();
    const wake = setup.runtime.wake(parent, { signal: stop.signal });
    await until(() => isAsked);
    stop.abort(new Error('enough'));
    await wake;
    expect((await setup.state(await childOf(parent))).openWake).toBeUndefined();
  });
});

describe('an agent that is called into a worktree', () => {
  it('works in it, and leaves none when there is nothing in it', async () => {
    const parent = await open({ isolation: 'worktree' }, [{ text: 'Nothing to do.' }]);
    await setup.runtime.wake(parent);
    expect(keeper.calls).toEqual(['prepare helper', 'remove helper']);
    expect(await setup.results(parent)).toMatchObject([
      { output: { output: 'Nothing to do.', worktree: { worktreeStatus: 'removed' } } },
    ]);
  });

  it('hands over what it leaves, with what to do about it', async () => {
    const parent = await open({ isolation: 'worktree', run: 'process' }, [{ text: 'Committed.' }]);
    keeper.findings.set('helper', 'one commit');
    await setup.runtime.wake(parent);
    const [worktree] = keeper.kept.values();
    expect(keeper.calls).toEqual(['prepare helper', 'preserve helper']);
    expect(await setup.state(await childOf(parent))).toMatchObject({ workspace: worktree?.worktreePath });
    expect(await setup.results(parent)).toMatchObject([
      {
        output: {
          output: 'Committed.',
          worktree: {
            worktreePath: worktree?.worktreePath,
            branchName: 'wakechart/tree_1',
            worktreeStatus: 'preserved',
            worktreeNextAction: expect.stringMatching(/^git merge helper/),
          },
        },
      },
    ]);
    expect(setup.asked.at(-1)?.read).toContain('git merge helper');
  });

  it('has an actor for its worktree, whose states tell what becomes of that', async () => {
    const parent = await open({ isolation: 'worktree' }, [{ text: 'Nothing to do.' }]);
    await setup.runtime.wake(parent);
    expect(lives).toEqual(['absent', 'creating', 'ready', 'inspecting', 'removing', 'removed']);
  });

  it('keeps its worktree by its actor too, when something is in it or it cannot be removed', async () => {
    const parent = await open(
      { isolation: 'worktree' },
      [{ text: 'Committed.' }, { text: 'Again.' }],
      [DO, DO, { text: 'All done.' }],
    );
    keeper.findings.set('helper', 'one commit');
    keeper.remove = () => Promise.reject(new Error('somebody is in it'));
    await setup.runtime.wake(parent);
    expect(lives.slice(0, 5)).toEqual(['absent', 'creating', 'ready', 'inspecting', 'preserved']);
    keeper.findings.clear();
    lives = [];
    const second = await setup.start('lead');
    await setup.runtime.wake(second);
    expect(lives.filter((state) => state === 'removing' || state === 'preserved').slice(-2)).toEqual([
      'removing',
      'preserved',
    ]);
  });

  it('is taken over with its worktree by the process that goes on with it', async () => {
    const parent = await open({ isolation: 'worktree' }, [{ calls: [{ name: 'launch' }] }, { text: 'Launched.' }]);
    await setup.runtime.wake(parent);
    lives = [];
    const runtime = setup.open({ subagents: { processRunner: runner(), worktrees: keeper, inspect: note } });
    await setup.confirm(await childOf(parent));
    await setup.settle();
    expect(runtime).toBe(setup.runtime);
    expect(lives).toEqual(['absent', 'creating', 'ready', 'orphaned', 'inspecting', 'removing', 'removed']);
  });

  it('is not started where none can be made, and the model reads why', async () => {
    const parent = await open({ isolation: 'worktree' }, [{ text: 'never' }]);
    keeper.prepare = () => Promise.reject(new Error('this is no repository'));
    await setup.runtime.wake(parent);
    expect(await setup.results(parent)).toMatchObject([
      { outcome: 'failed', output: expect.stringContaining('this is no repository') },
    ]);
    expect(await setup.children(parent)).toEqual([]);
  });

  it('keeps its worktree while it waits for somebody, and goes on in the same one', async () => {
    const parent = await open({ isolation: 'worktree' }, [{ calls: [{ name: 'launch' }] }, { text: 'Launched.' }]);
    await setup.runtime.wake(parent);
    expect(keeper.calls).toEqual(['prepare helper']);
    await setup.confirm(await childOf(parent));
    await setup.settle();
    expect(keeper.calls).toEqual(['prepare helper', 'remove helper']);
  });

  it('answers although its worktree could not be settled, and that is said beside it', async () => {
    const parent = await open({ isolation: 'worktree' }, [{ text: 'Done.' }]);
    keeper.list = () => Promise.reject(new Error('the disk is gone'));
    await setup.runtime.wake(parent);
    expect(await setup.results(parent)).toMatchObject([
      {
        outcome: 'completed',
        output: { output: 'Done.', worktree: { problem: expect.stringContaining('the disk is gone') } },
      },
    ]);
  });

  it('whose caller is ended leaves a worktree that is settled', async () => {
    const parent = await open({ isolation: 'worktree' }, [{ calls: [{ name: 'launch' }] }]);
    await setup.runtime.wake(parent);
    await setup.runtime.sessions.terminate(parent);
    expect(keeper.calls).toEqual(['prepare helper', 'remove helper']);
  });
});
