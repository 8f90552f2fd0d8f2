/** Answers that come twice, late, to another process, or in the very moment in which something else decides. */
import { afterEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { SessionEventType } from '../../../src/machines/session/session-event.ts';
import type { SessionIngress } from '../../../src/machines/session/session-requests.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { openTurnHouse } from '../../support/turn-house.ts';
import type { Said, TurnHouse } from '../../support/turn-house.ts';
import { noteTools } from '../../support/turn-tools.ts';

let house: TurnHouse;
let store: HookedStore;
let ran: string[];
let id: string;
afterEach(() => house[Symbol.asyncDispose]());

const EXPIRES_MS = 60_000;
const TOOLS = ['launch', 'ask_human', { custom: 'deploy', description: 'Deploys.' }] as const;

async function open(steps: readonly Said[] = [{ calls: [{ name: 'launch' }] }, { text: 'Launched.' }]): Promise<void> {
  store = new HookedStore();
  const tools = noteTools();
  ran = tools.ran;
  house = await openTurnHouse({ store, tools: [tools.tool('launch', { permissionPolicy: 'always_ask' })] });
  await house.agent('worker', steps, {
    tools: [...TOOLS],
    permission: { mode: 'preapproved', expiresAfterSeconds: EXPIRES_MS / 1000 },
  });
  id = await house.start('worker');
  await house.runtime.wake(id);
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
      const [requestId = ''] = await house.requests(id);
      const processes = [house.runtime, house.open(), house.open()];
      const codes = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          codeOf((processes[index % 3] ?? house.runtime).sessions.send(id, answer(requestId))),
        ),
      );
      expect(codes.filter((code) => code === 'it succeeded')).toHaveLength(1);
      expect(codes.filter((code) => code === 'REQUEST_NOT_PENDING')).toHaveLength(11);
      expect(await house.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'On.' });
      expect(await house.results(id)).toHaveLength(1);
    },
  );

  it.each(KINDS)(
    '%s that is sent again under its key gets the same receipt, before and after it was acted upon',
    async (_what, said, answer) => {
      await open([said, { text: 'On.' }]);
      const [requestId = ''] = await house.requests(id);
      const send = (): Promise<unknown> =>
        house.runtime.sessions.send(id, answer(requestId), { idempotencyKey: 'mine' });
      const receipts = await Promise.all([send(), send(), send()]);
      await house.runtime.wake(id);
      receipts.push(await send());
      house.open();
      receipts.push(await send());
      expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
      expect(await house.results(id)).toHaveLength(1);
    },
  );

  it.each(KINDS)('%s for a request of before is refused as stale, and leaves no trace', async (_what, said, answer) => {
    await open([said, said, { text: 'On.' }]);
    const [first = ''] = await house.requests(id);
    await house.runtime.sessions.send(id, answer(first));
    await house.runtime.wake(id);
    const { head } = await house.state(id);
    expect(await codeOf(house.runtime.sessions.send(id, answer(first)))).toBe('REQUEST_NOT_PENDING');
    expect((await house.state(id)).head).toBe(head);
    expect(await house.requests(id)).toHaveLength(1);
  });

  it.each(KINDS)('%s is heard by the next process', async (_what, said, answer) => {
    await open([said, { text: 'On.' }]);
    const [requestId = ''] = await house.requests(id);
    house.open();
    await house.runtime.sessions.send(id, answer(requestId));
    house.open();
    expect(await house.runtime.wake(id, { isAutonomous: true })).toMatchObject({ outcome: 'sleep', summary: 'On.' });
  });

  it('yes and no at the same time, the one that is stored first counts', async () => {
    for (let round = 0; round < 10; round += 1) {
      await open();
      const [requestId = ''] = await house.requests(id);
      const other = house.open();
      const answers = [true, false].map((allowed, index) =>
        codeOf(house.confirm(id, { requestId, allowed, by: index === round % 2 ? other : house.runtime })),
      );
      const [yes] = await Promise.all(answers);
      await house.runtime.wake(id);
      expect(ran).toEqual(yes === 'it succeeded' ? ['launch'] : []);
      expect(await house.results(id)).toMatchObject([{ outcome: yes === 'it succeeded' ? 'completed' : 'denied' }]);
      if (round < 9) await house[Symbol.asyncDispose]();
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
      const [requestId = ''] = await house.requests(id);
      const other = house.open();
      let hadRun: boolean | undefined;
      const interrupt = async (): Promise<void> => {
        hadRun = ran.length > 0;
        await other.sessions.interrupt(id);
      };
      if (moment === 'user.interrupt') store.before(moment, () => codeOf(house.confirm(id, { requestId })));
      else store.before(moment, interrupt);
      if (moment === 'user.interrupt') await other.sessions.interrupt(id);
      else await codeOf(house.confirm(id, { requestId }));
      await house.runtime.wake(id).catch((error: unknown) => error);
      await house.settle();
      const results = await house.results(id);
      expect([moment, results.length, await house.requests(id), await house.due()]).toEqual([moment, 1, [], []]);
      expect((await house.state(id)).openToolCalls).toEqual([]);
      // Started is started; what had not, never does.
      const started = await house.dataOf(id, 'agent.tool_started');
      expect(ran.length).toBeLessThanOrEqual(started.length);
      if (hadRun === false && moment !== 'wake.ended') expect([moment, ran]).toEqual([moment, []]);
      if (ran.length === 0) expect(['cancelled', 'denied']).toContain(results[0]?.outcome);
    },
  );

  it.each(KINDS)(
    'that meet when the result of %s is about to be stored leave one result, the one that was stored first',
    async (_what, said, answer) => {
      await open([said, { text: 'On.' }]);
      const [requestId = ''] = await house.requests(id);
      const other = house.open();
      await house.runtime.sessions.send(id, answer(requestId));
      store.before('agent.tool_result', () => other.sessions.interrupt(id));
      expect(await house.runtime.wake(id)).toMatchObject({ outcome: 'interrupted' });
      // What has run by then is told; what had only been answered is taken back.
      expect(await house.results(id)).toMatchObject([{ outcome: ran.length === 0 ? 'cancelled' : 'completed' }]);
      expect(await house.state(id)).toMatchObject({ openToolCalls: [], pending: [], pendingActions: [] });
    },
  );

  it.each(KINDS)(
    'that comes before %s is asked for leaves no question that no answer could reach',
    async (_what, said) => {
      store = new HookedStore();
      const tools = noteTools();
      ran = tools.ran;
      house = await openTurnHouse({ store, tools: [tools.tool('launch', { permissionPolicy: 'always_ask' })] });
      await house.agent('worker', [said, { text: 'On.' }], { tools: [...TOOLS], permission: 'preapproved' });
      id = await house.start('worker');
      const asking = ['permission.requested', 'agent.question_asked', 'agent.custom_tool_use'] as const;
      for (const type of asking) store.before(type, () => house.open().sessions.interrupt(id));
      expect(await house.runtime.wake(id)).toMatchObject({ outcome: 'interrupted' });
      const types = (await house.log(id)).map(({ type }) => type);
      expect(types.filter((type) => asking.some((each) => each === type))).toEqual([]);
      expect([ran, await house.results(id)]).toMatchObject([[], [{ outcome: 'cancelled' }]]);
    },
  );

  it('in any order and at once, from two processes, again and again, agree about what was first', async () => {
    for (let round = 0; round < 20; round += 1) {
      await open();
      const [requestId = ''] = await house.requests(id);
      const other = house.open();
      const acts = [
        () => codeOf(house.confirm(id, { requestId })),
        () => codeOf(other.sessions.interrupt(id)),
        () =>
          house.runtime.wake(id).then(
            ({ outcome }) => outcome,
            (error: unknown) => (RuntimeError.is(error) ? error.code : String(error)),
          ),
        () => codeOf(house.confirm(id, { requestId, allowed: false, by: other })),
      ];
      await Promise.all([...acts.slice(round % 4), ...acts.slice(0, round % 4)].map((act) => act()));
      await house.settle();
      expect([
        round,
        (await house.results(id)).length,
        (await house.state(id)).openToolCalls,
        await house.due(),
      ]).toEqual([round, 1, [], []]);
      expect(ran.length).toBeLessThanOrEqual(1);
      const types = (await house.log(id)).map(({ type }) => type);
      if (types.indexOf('user.interrupt') < types.indexOf('user.tool_confirmation')) expect(ran).toEqual([]);
      if (round < 19) await house[Symbol.asyncDispose]();
    }
  });
});

describe('an answer and the end of its time', () => {
  it('the answer counts until then, by the clock of whoever stores it', async () => {
    await open();
    await house.clock.advance(EXPIRES_MS - 1);
    expect(await codeOf(house.confirm(id))).toBe('it succeeded');
    expect(await house.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Launched.' });
    expect(ran).toEqual(['launch']);
  });

  it('is refused from then on, and by nobody else', async () => {
    await open();
    await house.clock.advance(EXPIRES_MS);
    expect(await codeOf(house.confirm(id))).toBe('REQUEST_EXPIRED');
    await house.settle();
    expect([ran, (await house.results(id))[0]?.outcome]).toEqual([[], 'denied']);
  });

  it('where the wake that denies it and the answer meet, the call has one result and has not run', async () => {
    await open();
    const [requestId = ''] = await house.requests(id);
    await house.clock.advance(EXPIRES_MS);
    store.before('permission.resolved', () => codeOf(house.confirm(id, { requestId })));
    await house.settle();
    expect([ran, await house.results(id)]).toMatchObject([[], [{ outcome: 'denied' }]]);
  });

  it('where the wake that denies it and an interruption meet, the call has one result', async () => {
    await open();
    await house.clock.advance(EXPIRES_MS);
    const other = house.open();
    store.before('permission.resolved', () => other.sessions.interrupt(id));
    await house.settle();
    expect([ran, await house.results(id)]).toMatchObject([[], [{ outcome: 'cancelled' }]]);
  });

  it('an answer from a process whose clock is behind, in the moment in which another one denies, lets nothing run twice or half', async () => {
    await open();
    const [requestId = ''] = await house.requests(id);
    const behind = house.open({ clock: { ...house.clock, now: () => house.clock.now() - EXPIRES_MS } });
    await house.clock.advance(EXPIRES_MS);
    const ahead = house.open();
    store.before('permission.resolved', () => codeOf(house.confirm(id, { requestId, by: behind })));
    await house.settle(ahead);
    expect((await house.results(id)).length).toBe(1);
    expect([ran, (await house.results(id))[0]?.outcome]).toEqual([[], 'denied']);
    expect(await house.state(id)).toMatchObject({ openToolCalls: [], pending: [], pendingActions: [] });
  });
});

describe('messages while a call waits', () => {
  it('are kept, make nothing due, and are read when the answer came', async () => {
    await open();
    await house.runtime.sessions.send(id, { type: 'user.message', text: 'Hurry up' });
    expect(await house.due()).toEqual([]);
    await house.confirm(id);
    await house.settle();
    expect(house.asked.at(-1)?.read).toContain('Hurry up');
    expect((await house.state(id)).pending).toEqual([]);
  });

  it('that interrupt take the request back, and are answered', async () => {
    await open();
    const [requestId = ''] = await house.requests(id);
    await house.runtime.sessions.send(id, { type: 'user.message', text: 'Stop that' }, { delivery: 'interrupt' });
    expect(await codeOf(house.confirm(id, { requestId }))).toBe('REQUEST_NOT_PENDING');
    await house.settle();
    expect([ran, (await house.results(id))[0]?.outcome, house.asked.at(-1)?.read.includes('Stop that')]).toEqual([
      [],
      'cancelled',
      true,
    ]);
  });
});
