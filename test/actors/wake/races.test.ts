/** Answers that come twice, late, to another process, or in the very moment in which something else decides. */
import { afterEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { SessionEventType } from '../../../src/machines/session/session-event.ts';
import type { SessionIngress } from '../../../src/machines/session/session-requests.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
let store: HookedStore;
let ran: string[];
let id: string;
afterEach(() => setup[Symbol.asyncDispose]());

const EXPIRES_MS = 60_000;
const TOOLS = ['launch', 'ask_human', { custom: 'deploy', description: 'Deploys.' }] as const;

async function open(steps: readonly Said[] = [{ calls: [{ name: 'launch' }] }, { text: 'Launched.' }]): Promise<void> {
  store = new HookedStore();
  const tools = noteTools();
  ran = tools.ran;
  setup = await openTurnSetup({ store, tools: [tools.tool('launch', { permissionPolicy: 'always_ask' })] });
  await setup.agent('worker', steps, {
    tools: [...TOOLS],
    permission: { mode: 'preapproved', expiresAfterSeconds: EXPIRES_MS / 1000 },
  });
  id = await setup.start('worker');
  await setup.runtime.wake(id);
}

/** Asks for one of each kind, and what somebody would answer. */
const KINDS: readonly [string, Said, (requestId: string) => SessionIngress][] = [
  [
    'a confirmation',
    { calls: [{ name: 'launch' }] },
    (requestId) => ({ type: 'user.tool_confirmation', requestId, toolName: 'launch', allowed: true }),
  ],
  [
    'an answer',
    { calls: [{ name: 'ask_human', input: { question: 'Which?' } }] },
    (requestId) => ({ type: 'user.answer', requestId, response: 'the blue one' }),
  ],
  [
    'a result of a tool outside',
    { calls: [{ name: 'deploy' }] },
    (requestId) => ({ type: 'user.custom_tool_result', requestId, toolName: 'deploy', output: { ok: true } }),
  ],
];

describe('of several answers to one request', () => {
  it.each(KINDS)(
    '%s counts once, though they come at the same time through two processes',
    async (_what, said, answer) => {
      await open([said, { text: 'On.' }]);
      const [requestId = ''] = await setup.requests(id);
      const processes = [setup.runtime, setup.open(), setup.open()];
      const codes = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          codeOf((processes[index % 3] ?? setup.runtime).sessions.send(id, answer(requestId))),
        ),
      );
      expect(codes.filter((code) => code === 'it succeeded')).toHaveLength(1);
      expect(codes.filter((code) => code === 'REQUEST_NOT_PENDING')).toHaveLength(11);
      expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'On.' });
      expect(await setup.results(id)).toHaveLength(1);
    },
  );

  it.each(KINDS)(
    '%s that is sent again under its key gets the same receipt, before and after it was acted upon',
    async (_what, said, answer) => {
      await open([said, { text: 'On.' }]);
      const [requestId = ''] = await setup.requests(id);
      const send = (): Promise<unknown> =>
        setup.runtime.sessions.send(id, answer(requestId), { idempotencyKey: 'mine' });
      const receipts = await Promise.all([send(), send(), send()]);
      await setup.runtime.wake(id);
      receipts.push(await send());
      setup.open();
      receipts.push(await send());
      expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
      expect(await setup.results(id)).toHaveLength(1);
    },
  );

  it.each(KINDS)('%s for a request of before is refused as stale, and leaves no trace', async (_what, said, answer) => {
    await open([said, said, { text: 'On.' }]);
    const [first = ''] = await setup.requests(id);
    await setup.runtime.sessions.send(id, answer(first));
    await setup.runtime.wake(id);
    const { head } = await setup.state(id);
    expect(await codeOf(setup.runtime.sessions.send(id, answer(first)))).toBe('REQUEST_NOT_PENDING');
    expect((await setup.state(id)).head).toBe(head);
    expect(await setup.requests(id)).toHaveLength(1);
  });

  it.each(KINDS)('%s is heard by the next process', async (_what, said, answer) => {
    await open([said, { text: 'On.' }]);
    const [requestId = ''] = await setup.requests(id);
    setup.open();
    await setup.runtime.sessions.send(id, answer(requestId));
    setup.open();
    expect(await setup.runtime.wake(id, { isAutonomous: true })).toMatchObject({ outcome: 'sleep', summary: 'On.' });
  });

  it('yes and no at the same time, the one that is stored first counts', async () => {
    for (let round = 0; round < 10; round += 1) {
      await open();
      const [requestId = ''] = await setup.requests(id);
      const other = setup.open();
      const answers = [true, false].map((allowed, index) =>
        codeOf(setup.confirm(id, { requestId, allowed, by: index === round % 2 ? other : setup.runtime })),
      );
      const [yes] = await Promise.all(answers);
      await setup.runtime.wake(id);
      expect(ran).toEqual(yes === 'it succeeded' ? ['launch'] : []);
      expect(await setup.results(id)).toMatchObject([{ outcome: yes === 'it succeeded' ? 'completed' : 'denied' }]);
      if (round < 9) await setup[Symbol.asyncDispose]();
    }
  });
});

describe('an answer and an interruption', () => {
  const MOMENTS: readonly SessionEventType[] = [
    'user.tool_confirmation',
    'user.interrupt',
    'wake.started',
    'permission.resolved',
    'agent.tool_started',
    'agent.tool_result',
    'wake.ended',
  ];

  it.each(MOMENTS)(
    'that meet when %s is about to be stored leave one result, and nothing runs after the interruption',
    async (moment) => {
      await open();
      const [requestId = ''] = await setup.requests(id);
      const other = setup.open();
      let hadRun: boolean | undefined;
      const interrupt = async (): Promise<void> => {
        hadRun = ran.length > 0;
        await other.sessions.interrupt(id);
      };
      if (moment === 'user.interrupt') store.before(moment, () => codeOf(setup.confirm(id, { requestId })));
      else store.before(moment, interrupt);
      if (moment === 'user.interrupt') await other.sessions.interrupt(id);
      else await codeOf(setup.confirm(id, { requestId }));
      await setup.runtime.wake(id).catch((error: unknown) => error);
      await setup.settle();
      const results = await setup.results(id);
      expect([moment, results.length, await setup.requests(id), await setup.due()]).toEqual([moment, 1, [], []]);
      expect((await setup.state(id)).openToolCalls).toEqual([]);
      // Started is started; what had not, never does.
      const started = await setup.dataOf(id, 'agent.tool_started');
      expect(ran.length).toBeLessThanOrEqual(started.length);
      if (hadRun === false && moment !== 'wake.ended') expect([moment, ran]).toEqual([moment, []]);
      if (ran.length === 0) expect(['cancelled', 'denied']).toContain(results[0]?.outcome);
    },
  );

  it.each(KINDS)(
    'that meet when the result of %s is about to be stored leave one result, the one that was stored first',
    async (_what, said, answer) => {
      await open([said, { text: 'On.' }]);
      const [requestId = ''] = await setup.requests(id);
      const other = setup.open();
      await setup.runtime.sessions.send(id, answer(requestId));
      store.before('agent.tool_result', () => other.sessions.interrupt(id));
      expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'interrupted' });
      // What has run by then is told; what had only been answered is taken back.
      expect(await setup.results(id)).toMatchObject([{ outcome: ran.length === 0 ? 'cancelled' : 'completed' }]);
      expect(await setup.state(id)).toMatchObject({ openToolCalls: [], pending: [], pendingActions: [] });
    },
  );

  it.each(KINDS)(
    'that comes before %s is asked for leaves no question that no answer could reach',
    async (_what, said) => {
      store = new HookedStore();
      const tools = noteTools();
      ran = tools.ran;
      setup = await openTurnSetup({ store, tools: [tools.tool('launch', { permissionPolicy: 'always_ask' })] });
      await setup.agent('worker', [said, { text: 'On.' }], { tools: [...TOOLS], permission: 'preapproved' });
      id = await setup.start('worker');
      const asking = ['permission.requested', 'agent.question_asked', 'agent.custom_tool_use'] as const;
      for (const type of asking) store.before(type, () => setup.open().sessions.interrupt(id));
      expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'interrupted' });
      const types = (await setup.log(id)).map(({ type }) => type);
      expect(types.filter((type) => asking.some((each) => each === type))).toEqual([]);
      expect([ran, await setup.results(id)]).toMatchObject([[], [{ outcome: 'cancelled' }]]);
    },
  );

  it('in any order and at once, from two processes, again and again, agree about what was first', async () => {
    for (let round = 0; round < 20; round += 1) {
      await open();
      const [requestId = ''] = await setup.requests(id);
      const other = setup.open();
      const acts = [
        () => codeOf(setup.confirm(id, { requestId })),
        () => codeOf(other.sessions.interrupt(id)),
        () =>
          setup.runtime.wake(id).then(
            ({ outcome }) => outcome,
            (error: unknown) => (RuntimeError.is(error) ? error.code : String(error)),
          ),
        () => codeOf(setup.confirm(id, { requestId, allowed: false, by: other })),
      ];
      await Promise.all([...acts.slice(round % 4), ...acts.slice(0, round % 4)].map((act) => act()));
      await setup.settle();
      expect([
        round,
        (await setup.results(id)).length,
        (await setup.state(id)).openToolCalls,
        await setup.due(),
      ]).toEqual([round, 1, [], []]);
      expect(ran.length).toBeLessThanOrEqual(1);
      const types = (await setup.log(id)).map(({ type }) => type);
      if (types.indexOf('user.interrupt') < types.indexOf('user.tool_confirmation')) expect(ran).toEqual([]);
      if (round < 19) await setup[Symbol.asyncDispose]();
    }
  });
});

describe('an answer and the end of its time', () => {
  it('the answer counts until then, by the clock of whoever stores it', async () => {
    await open();
    await setup.clock.advance(EXPIRES_MS - 1);
    expect(await codeOf(setup.confirm(id))).toBe('it succeeded');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Launched.' });
    expect(ran).toEqual(['launch']);
  });

  it('is refused from then on, and by nobody else', async () => {
    await open();
    await setup.clock.advance(EXPIRES_MS);
    expect(await codeOf(setup.confirm(id))).toBe('REQUEST_EXPIRED');
    await setup.settle();
    expect([ran, (await setup.results(id))[0]?.outcome]).toEqual([[], 'denied']);
  });

  it('where the wake that denies it and the answer meet, the call has one result and has not run', async () => {
    await open();
    const [requestId = ''] = await setup.requests(id);
    await setup.clock.advance(EXPIRES_MS);
    store.before('permission.resolved', () => codeOf(setup.confirm(id, { requestId })));
    await setup.settle();
    expect([ran, await setup.results(id)]).toMatchObject([[], [{ outcome: 'denied' }]]);
  });

  it('where the wake that denies it and an interruption meet, the call has one result', async () => {
    await open();
    await setup.clock.advance(EXPIRES_MS);
    const other = setup.open();
    store.before('permission.resolved', () => other.sessions.interrupt(id));
    await setup.settle();
    expect([ran, await setup.results(id)]).toMatchObject([[], [{ outcome: 'cancelled' }]]);
  });

  it('an answer from a process whose clock is behind, in the moment in which another one denies, lets nothing run twice or half', async () => {
    await open();
    const [requestId = ''] = await setup.requests(id);
    const behind = setup.open({ clock: { ...setup.clock, now: () => setup.clock.now() - EXPIRES_MS } });
    await setup.clock.advance(EXPIRES_MS);
    const ahead = setup.open();
    store.before('permission.resolved', () => codeOf(setup.confirm(id, { requestId, by: behind })));
    await setup.settle(ahead);
    expect((await setup.results(id)).length).toBe(1);
    expect([ran, (await setup.results(id))[0]?.outcome]).toEqual([[], 'denied']);
    expect(await setup.state(id)).toMatchObject({ openToolCalls: [], pending: [], pendingActions: [] });
  });
});

describe('messages while a call waits', () => {
  it('are kept, make nothing due, and are read when the answer came', async () => {
    await open();
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Hurry up' });
    expect(await setup.due()).toEqual([]);
    await setup.confirm(id);
    await setup.settle();
    expect(setup.asked.at(-1)?.read).toContain('Hurry up');
    expect((await setup.state(id)).pending).toEqual([]);
  });

  it('that interrupt take the request back, and are answered', async () => {
    await open();
    const [requestId = ''] = await setup.requests(id);
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Stop that' }, { delivery: 'interrupt' });
    expect(await codeOf(setup.confirm(id, { requestId }))).toBe('REQUEST_NOT_PENDING');
    await setup.settle();
    expect([ran, (await setup.results(id))[0]?.outcome, setup.asked.at(-1)?.read.includes('Stop that')]).toEqual([
      [],
      'cancelled',
      true,
    ]);
  });
});
