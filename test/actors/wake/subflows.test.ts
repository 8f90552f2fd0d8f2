/** Agents that work for agents: each call is a child session of its own, made once, and its result comes once. */
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_OPEN_SUBFLOWS, MAX_SESSION_DEPTH } from '../../../src/machines/session/limits.ts';
import type { AgentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { until } from '../../support/session-setup.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Model, Said, TurnSetup, TurnSetupOptions } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
let ran: string[];
afterEach(() => setup[Symbol.asyncDispose]());

async function open(options: TurnSetupOptions = {}): Promise<void> {
  const tools = noteTools();
  ran = tools.ran;
  setup = await openTurnSetup({
    tools: [tools.tool('launch', { permissionPolicy: 'always_ask' }), tools.tool('check')],
    ...options,
  });
}

const toAgents = (...ids: readonly string[]): Partial<AgentFrontmatter> => ({
  tools: [...ids.map((agent) => ({ agent })), 'launch', 'check', 'ask_human'],
});
const ask = (...names: readonly string[]): Said => ({
  calls: names.map((name) => ({ name, input: { message: `Do it, ${name}.` } })),
});
const launch: Said = { calls: [{ name: 'launch' }] };

/** A parent that asks one helper, which says these things. */
async function openPair(
  helper: Model | readonly Said[],
  {
    steps = [ask('helper'), { text: 'All done.' }],
    agent = {},
    ...options
  }: TurnSetupOptions & { readonly steps?: readonly Said[]; readonly agent?: Partial<AgentFrontmatter> } = {},
): Promise<string> {
  await open(options);
  await setup.agent('helper', helper, { tools: ['launch', 'check', 'ask_human'] });
  await setup.agent('lead', steps, { ...toAgents('helper'), ...agent });
  return setup.start('lead');
}

async function childOf(parent: string): Promise<string> {
  const [child] = await setup.children(parent);
  if (child === undefined) throw new Error('it has no child');
  return child;
}

describe('a call of another agent', () => {
  it('is a child session with its own log, lineage and mailbox, and its answer is the result', async () => {
    const parent = await openPair([{ calls: [{ name: 'check' }] }, { text: 'I checked.' }]);
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'sleep', summary: 'All done.' });
    const child = await childOf(parent);
    const [use] = await setup.dataOf(parent, 'agent.tool_use');
    expect((await setup.state(child)).parent).toEqual({ sessionId: parent, depth: 1, callId: use?.callId });
    expect(await setup.dataOf(child, 'user.message')).toMatchObject([{ text: 'Do it, helper.' }]);
    expect(await setup.dataOf(parent, 'session.child_idle')).toHaveLength(1);
    expect(await setup.results(parent)).toMatchObject([
      { outcome: 'completed', output: { output: 'I checked.', agent: 'helper', sessionId: child } },
    ]);
    expect(setup.asked.at(-1)?.read).toContain('I checked.');
    expect(await setup.dataOf(parent, 'agent.message')).toMatchObject([{ text: 'All done.' }]);
    expect(await setup.due()).toEqual([]);
    expect((await setup.state(parent)).pending).toEqual([]);
  });

  it('is seen by nothing of its parent but the message, and the parent by nothing but the answer', async () => {
    const parent = await openPair([{ text: 'secret of the child', calls: [{ name: 'check' }] }, { text: 'Answer.' }]);
    await setup.runtime.wake(parent);
    expect(setup.asked.filter(({ agent }) => agent === 'helper').map(({ read }) => read.includes('Go'))).toEqual([
      false,
      false,
    ]);
    expect(
      setup.asked.filter(({ agent }) => agent === 'lead').map(({ read }) => read.includes('secret of the child')),
    ).toEqual([false, false]);
  });

  it('gives results in the order in which the parent asked, whoever comes first', async () => {
    await open();
    let isSecondDone = false;
    await setup.agent('slow', async () => {
      await until(() => isSecondDone);
      return { text: 'first asked' };
    });
    await setup.agent('quick', () => {
      isSecondDone = true;
      return { text: 'second asked' };
    });
    await setup.agent('lead', [ask('slow', 'quick'), { text: 'Both.' }], toAgents('slow', 'quick'));
    const parent = await setup.start('lead');
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'sleep', summary: 'Both.' });
    const read = setup.asked.at(-1)?.read ?? '';
    expect(read.indexOf('first asked')).toBeGreaterThan(-1);
    expect(read.indexOf('first asked')).toBeLessThan(read.indexOf('second asked'));
  });

  it('that fails does not take the others with it, and says why', async () => {
    await open();
    await setup.agent('good', [{ text: 'fine' }]);
    await setup.agent('bad', () => ({ error: { kind: 'auth', message: 'no key' } }));
    await setup.agent('lead', [ask('bad', 'good'), { text: 'One of two.' }], toAgents('good', 'bad'));
    const parent = await setup.start('lead');
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'requires_action' });
    for (let turn = 0; turn < 8; turn += 1) {
      await setup.settle();
      await setup.clock.advance(3_600_000);
    }
    expect(await setup.state(parent)).toMatchObject({ status: 'idle', stopReason: 'idle', summary: 'One of two.' });
    const results = await setup.results(parent);
    expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(['completed', 'failed']);
    expect(results.find(({ outcome }) => outcome === 'failed')?.output).toMatchObject({
      summary: expect.stringContaining('failed'),
    });
  });

  it('may call others in turn, three deep, and each answer comes up', async () => {
    await open();
    await setup.agent('one', [ask('two'), { text: 'one has heard' }], toAgents('two'));
    await setup.agent('two', [ask('three'), { text: 'two has heard' }], toAgents('three'));
    await setup.agent('three', [{ text: 'from the deep' }]);
    await setup.agent('lead', [ask('one'), { text: 'Up.' }], toAgents('one'));
    const parent = await setup.start('lead');
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'sleep', summary: 'Up.' });
    const one = await childOf(parent);
    const three = await childOf(await childOf(one));
    expect((await setup.state(three)).parent?.depth).toBe(3);
    expect(setup.asked.map(({ agent }) => agent)).toEqual(['lead', 'one', 'two', 'three', 'two', 'one', 'lead']);
  });
});

describe('a call of another agent is an error for the model', () => {
  it('when the generations are too many', async () => {
    await open();
    await setup.agent('again', [ask('again'), { text: 'back' }], toAgents('again'));
    const top = await setup.start('again');
    expect(await setup.runtime.wake(top)).toMatchObject({ outcome: 'sleep' });
    let deepest = top;
    for (let depth = 0; depth < MAX_SESSION_DEPTH; depth += 1) deepest = await childOf(deepest);
    expect(await setup.children(deepest)).toEqual([]);
    expect(await setup.results(deepest)).toMatchObject([
      { outcome: 'failed', output: expect.stringContaining(`${MAX_SESSION_DEPTH} generations`) },
    ]);
  });

  it('when too many work for it at the same time, and the others go on', async () => {
    const parent = await openPair([{ text: 'ok' }], {
      steps: [ask(...Array.from({ length: MAX_OPEN_SUBFLOWS + 3 }, () => 'helper')), { text: 'Done.' }],
    });
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'sleep' });
    expect(await setup.children(parent)).toHaveLength(MAX_OPEN_SUBFLOWS);
    expect((await setup.results(parent)).filter(({ outcome }) => outcome === 'failed')).toHaveLength(3);
  });

  it('when the message is missing or empty', async () => {
    const parent = await openPair([], {
      steps: [
        {
          calls: [
            { name: 'helper', input: {} },
            { name: 'helper', input: { message: '' } },
          ],
        },
        { text: 'Oh.' },
      ],
    });
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'sleep' });
    expect((await setup.results(parent)).map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
    expect(await setup.children(parent)).toEqual([]);
  });

  it('when there is no such agent: the tool is left out, and the log says so', async () => {
    await open();
    await setup.agent('lead', [ask('nobody'), { text: 'Alone.' }], toAgents('nobody'));
    const parent = await setup.start('lead');
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'sleep', summary: 'Alone.' });
    expect(await setup.dataOf(parent, 'tool.skipped')).toMatchObject([{ name: 'nobody' }]);
  });
});

describe('a child that waits for somebody', () => {
  it('leaves its parent waiting for it, and the answer to the child brings both on', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    expect(await setup.runtime.wake(parent)).toMatchObject({
      outcome: 'requires_action',
      stopReason: 'requires_action',
      summary: 'Waits for the agent behind helper',
    });
    const child = await childOf(parent);
    expect(await setup.state(child)).toMatchObject({
      stopReason: 'requires_action',
      pendingActions: [{ toolName: 'launch' }],
    });
    expect(await setup.due()).toEqual([]);
    await setup.confirm(child);
    expect(await setup.due()).toEqual([child]);
    await setup.settle();
    expect(await setup.state(parent)).toMatchObject({ status: 'idle', stopReason: 'idle', summary: 'All done.' });
    expect([ran, (await setup.results(parent))[0]?.outcome]).toEqual([['launch'], 'completed']);
  });

  it('goes on too when somebody wakes the parent instead', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    await setup.runtime.wake(parent);
    await setup.confirm(await childOf(parent));
    expect(await setup.runtime.wake(parent)).toMatchObject({ outcome: 'sleep', summary: 'All done.' });
    expect(ran).toEqual(['launch']);
    await setup.settle();
    expect(await setup.dataOf(parent, 'session.child_idle')).toHaveLength(2);
    expect(await setup.results(parent)).toHaveLength(1);
  });

  it('goes on after a restart', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    await setup.runtime.wake(parent);
    setup.open();
    await setup.confirm(await childOf(parent));
    await setup.settle();
    expect(await setup.state(parent)).toMatchObject({ summary: 'All done.' });
    expect(await setup.children(parent)).toHaveLength(1);
  });

  it('that asks twice tells its parent nothing but the end', async () => {
    const parent = await openPair([launch, launch, { text: 'Twice.' }]);
    await setup.runtime.wake(parent);
    const child = await childOf(parent);
    await setup.confirm(child);
    await setup.settle();
    expect(await setup.state(parent)).toMatchObject({ stopReason: 'requires_action' });
    expect(await setup.results(parent)).toEqual([]);
    await setup.confirm(child);
    await setup.settle();
    expect(await setup.results(parent)).toMatchObject([{ outcome: 'completed', output: { output: 'Twice.' } }]);
  });

  it('and is worked on by another process is waited for, and its answer comes once', async () => {
    let isReleased = false;
    let isAsked = false;
    const parent = await openPair(async ({ modelStepsTaken }) => {
      if (modelStepsTaken === 0) return launch;
      isAsked = true;
      await until(() => isReleased);
      return { text: 'from the other process' };
    });
    const one = setup.runtime;
    await one.wake(parent);
    const child = await childOf(parent);
    await setup.confirm(child);
    const other = setup.open();
    const working = other.wake(child);
    await until(() => isAsked);
    const waking = one.wake(parent);
    await until(async () => (await setup.state(parent)).status === 'running');
    isReleased = true;
    expect(await working).toMatchObject({ outcome: 'sleep' });
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'All done.' });
    expect(await setup.results(parent)).toMatchObject([{ output: { output: 'from the other process' } }]);
    expect(ran).toEqual(['launch']);
  });

  it('needs no second slot of a worker: one after the other comes to its end', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    const worker = setup.runtime.startWorker({ concurrency: 1 });
    await until(
      async () =>
        (await setup.children(parent)).length === 1 && (await setup.requests(await childOf(parent))).length === 1,
    );
    await setup.confirm(await childOf(parent));
    await until(async () => (await setup.state(parent)).summary === 'All done.');
    await worker.stop();
    expect(worker.status().counts).toMatchObject({ failed: 0, contended: 0 });
    expect(ran).toEqual(['launch']);
  });

  it('does not hold up what else its parent asked for', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }], {
      steps: [{ calls: [{ name: 'helper', input: { message: 'Go' } }, { name: 'check' }] }, { text: 'All done.' }],
    });
    await setup.runtime.wake(parent);
    expect(ran).toEqual(['check']);
    await setup.confirm(await childOf(parent));
    await setup.settle();
    expect(await setup.state(parent)).toMatchObject({ summary: 'All done.' });
  });

  it('where nobody can be asked is denied at its own effect, and answers', async () => {
    const parent = await openPair([launch, { text: 'I was not allowed to.' }]);
    expect(await setup.runtime.wake(parent, { humans: 'none' })).toMatchObject({ outcome: 'sleep' });
    expect(ran).toEqual([]);
    expect(await setup.results(parent)).toMatchObject([{ output: { output: 'I was not allowed to.' } }]);
  });
});

describe('a child that waits for a child that waits for somebody', () => {
  it('has not come to rest: nobody above it goes on before the answer', async () => {
    await open();
    await setup.agent('one', [ask('two'), { text: 'one has heard' }], toAgents('two'));
    await setup.agent('two', [launch, { text: 'two has launched' }]);
    await setup.agent('lead', [ask('one'), { text: 'Up.' }], toAgents('one'));
    const parent = await setup.start('lead');
    expect(await setup.runtime.wake(parent)).toMatchObject({
      outcome: 'requires_action',
      stopReason: 'requires_action',
    });
    const one = await childOf(parent);
    expect(await setup.state(one)).toMatchObject({ stopReason: 'requires_action' });
    expect(await setup.results(parent)).toEqual([]);
    expect(await setup.due()).toEqual([]);
    await setup.confirm(await childOf(one));
    await setup.settle();
    expect(await setup.results(parent)).toMatchObject([{ outcome: 'completed', output: { output: 'one has heard' } }]);
    expect(await setup.state(parent)).toMatchObject({ stopReason: 'idle', summary: 'Up.' });
  });
});

describe('an agent that works for another', () => {
  it.each<[string, object, object, 'asks' | 'denied' | 'runs']>([
    ['asks where the other one has to, whatever its own file says', { permission: 'ask' }, {}, 'asks'],
    ['may not do what the other one may not', { permission: { mode: 'preapproved', deny: ['change'] } }, {}, 'denied'],
    [
      'keeps the rules of its own file that allow',
      { permission: 'ask' },
      { permission: { mode: 'ask', allow: ['change'] } },
      'runs',
    ],
    ['may do less than the other one', {}, { permission: 'ask' }, 'asks'],
    ['may do what neither file forbids', {}, {}, 'runs'],
  ])('%s', async (_what, lead, helper, outcome) => {
    const tools = noteTools();
    await using other = await openTurnSetup({ tools: [tools.tool('change')] });
    await other.agent('lead', [{ calls: [{ name: 'helper', input: { message: 'Change it.' } }] }, { text: 'Done.' }], {
      tools: [{ agent: 'helper' }],
      ...lead,
    });
    await other.agent('helper', [{ calls: [{ name: 'change' }] }, { text: 'Changed.' }], helper);
    const parent = await other.start('lead');
    await other.runtime.wake(parent);
    const [child = ''] = await other.children(parent);
    expect(tools.ran).toEqual(outcome === 'runs' ? ['change'] : []);
    expect(await other.requests(child)).toHaveLength(outcome === 'asks' ? 1 : 0);
    if (outcome === 'denied') expect(await other.results(child)).toMatchObject([{ outcome: 'denied' }]);
  });
});
