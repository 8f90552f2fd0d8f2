/** Where no person answers: requests that expire, wakes and runtimes that can ask nobody, a policy that cannot be read. */
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryPolicyStore } from '../../../src/adapters/memory/memory-policy-store.ts';
import { exec, launch, openApprovalStage, write } from '../../support/approval-stage.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { until } from '../../support/session-setup.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';

let setup: TurnSetup;
let ran: string[];
let id: string;
afterEach(() => setup[Symbol.asyncDispose]());

async function open(...wanted: Parameters<typeof openApprovalStage>): Promise<void> {
  ({ setup, ran, id } = await openApprovalStage(...wanted));
}

const HOUR_MS = 3_600_000;

describe('a request that nobody answers', () => {
  it('wakes its session when it expires, not before; the call is denied and the model told', async () => {
    await open([launch, { text: 'Never mind.' }]);
    await setup.runtime.wake(id);
    await setup.clock.advance(HOUR_MS - 1);
    expect(await setup.due()).toEqual([]);
    expect(await setup.runtime.wake(id, { isAutonomous: true })).toMatchObject({ outcome: 'nothing_to_do' });
    await setup.clock.advance(1);
    expect(await setup.due()).toEqual([id]);
    expect(await setup.runtime.wake(id, { isAutonomous: true })).toMatchObject({
      outcome: 'sleep',
      summary: 'Never mind.',
    });
    expect(ran).toEqual([]);
    expect(await setup.results(id)).toMatchObject([{ outcome: 'denied', output: expect.stringContaining('in time') }]);
    expect(await setup.dataOf(id, 'permission.resolved')).toMatchObject([{ decision: 'expired' }]);
    expect(setup.asked.at(-1)?.read).toContain('The call was not allowed in time');
    expect(await setup.due()).toEqual([]);
  });

  it('is noticed by a worker that rests, in the moment it expires', async () => {
    await open([launch, { text: 'Never mind.' }]);
    const worker = setup.runtime.startWorker({ restLimitMs: 24 * HOUR_MS });
    await until(
      async () => (await setup.state(id)).stopReason === 'requires_action' && worker.status().running.length === 0,
    );
    await setup.clock.advance(HOUR_MS - 1);
    expect(await setup.state(id)).toMatchObject({ stopReason: 'requires_action' });
    await setup.clock.advance(1);
    await until(async () => (await setup.state(id)).stopReason === 'idle');
    await worker.stop();
    expect(await setup.state(id)).toMatchObject({ status: 'idle', stopReason: 'idle', summary: 'Never mind.' });
    expect(worker.status().counts).toMatchObject({ begun: 2, nothingToDo: 0, failed: 0 });
  });

  it('takes no answer any more from then on, whether or not anybody has noticed', async () => {
    await open([launch, { text: 'x' }]);
    await setup.runtime.wake(id);
    await setup.clock.advance(HOUR_MS);
    expect(await codeOf(setup.confirm(id))).toBe('REQUEST_EXPIRED');
    expect(await codeOf(setup.confirm(id, { allowed: false }))).toBe('REQUEST_EXPIRED');
    await setup.runtime.wake(id);
    expect(
      await codeOf(
        setup.confirm(id, { requestId: (await setup.dataOf(id, 'permission.requested'))[0]?.requestId ?? '' }),
      ),
    ).toBe('REQUEST_NOT_PENDING');
    expect(ran).toEqual([]);
  });

  it('is expired too when it was answered in time and acted upon too late', async () => {
    await open([launch, { text: 'Too late.' }]);
    await setup.runtime.wake(id);
    await setup.clock.advance(HOUR_MS - 1);
    await setup.confirm(id);
    await setup.clock.advance(1);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Too late.' });
    expect([ran, (await setup.dataOf(id, 'permission.resolved'))[0]?.decision]).toEqual([[], 'expired']);
  });

  it('does not hold up the others of its step: each expires by itself', async () => {
    await open([
      { calls: [{ name: 'launch' }, { name: 'ask_human', input: { question: 'Which?' } }] },
      { text: 'Both.' },
    ]);
    await setup.runtime.wake(id);
    await setup.clock.advance(HOUR_MS);
    await setup.settle();
    expect(await setup.state(id)).toMatchObject({
      stopReason: 'requires_action',
      pendingActions: [{ kind: 'answer' }],
    });
    const [requestId = ''] = await setup.requests(id);
    await setup.runtime.sessions.send(id, { type: 'user.answer', requestId, response: 'the blue one' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Both.' });
  });
});

describe('where nobody can be asked', () => {
  it.each<[string, Said, RegExp]>([
    ['a call that would ask for permission is denied', launch, /none can be/],
    ['a tool that changes something is denied', write, /none can be/],
    [
      'a question fails at once',
      { calls: [{ name: 'ask_human', input: { question: 'Which?' } }] },
      /No person can be asked/,
    ],
  ])('%s, and the model goes on', async (_what, said, pattern) => {
    await open([said, { text: 'On my own.' }], { humans: 'none' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'On my own.' });
    expect(ran).toEqual([]);
    expect((await setup.results(id))[0]?.output).toMatch(pattern);
    expect(await setup.requests(id)).toEqual([]);
  });

  it('one wake may say so where the runtime does not', async () => {
    await open([launch, { text: 'On my own.' }]);
    expect(await setup.runtime.wake(id, { humans: 'none' })).toMatchObject({ outcome: 'sleep' });
    expect(ran).toEqual([]);
  });

  it('a tool that a program outside runs is still waited for', async () => {
    await open([{ calls: [{ name: 'deploy', input: {} }] }, { text: 'Deployed.' }], {
      humans: 'none',
      agent: { tools: [{ custom: 'deploy', description: 'Deploys.' }] },
    });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
  });
});

describe('a policy that cannot be read', () => {
  const unreadable = (): MemoryPolicyStore => {
    const policy = new MemoryPolicyStore({ clock: { now: () => 0 } });
    policy.rules = () => Promise.reject(new Error('line 3 is no rule'));
    return policy;
  };

  it('asks for everything, even for what no rule would be needed for, and lets nothing be allowed for longer', async () => {
    await open([exec('ls'), { text: 'x' }], { policy: unreadable(), agent: { permission: 'preapproved' } });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    expect((await setup.dataOf(id, 'permission.requested'))[0]?.because).toContain('line 3 is no rule');
    expect(await codeOf(setup.confirm(id, { toolName: 'shell_do', scope: 'session' }))).toBe('REQUEST_SCOPE_REFUSED');
    await setup.confirm(id, { toolName: 'shell_do' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(ran).toEqual(['shell_do']);
  });

  it('denies everything where nobody can be asked', async () => {
    await open([exec('ls'), { text: 'x' }], { policy: unreadable(), humans: 'none' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect([ran, (await setup.results(id))[0]?.outcome]).toEqual([[], 'denied']);
  });

  it('is read again for the next calls', async () => {
    const policy = new MemoryPolicyStore({ clock: { now: () => 0 } });
    const read = policy.rules.bind(policy);
    policy.rules = () => Promise.reject(new Error('busy'));
    await open([write, write, { text: 'x' }], { policy, agent: { permission: 'preapproved' } });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    policy.rules = read;
    await setup.confirm(id, { toolName: 'write' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(ran).toEqual(['write', 'write']);
  });
});
