/** Which process wakes a session, and what is known of it from here. */
import { describe, expect, it } from 'vitest';
import { InspectedText } from '../../../src/actors/inspection/inspected-text.ts';
import { formerWorkersOf, suspendedOf, workerOf } from '../../../src/actors/inspection/session-wakers.ts';
import type { WakerFacts } from '../../../src/actors/inspection/session-wakers.ts';
import { isStuck } from '../../../src/machines/inspection-log/session-words.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';

const SINCE = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:00:10.000Z';

const awake = (owner: string): SessionState =>
  ({ sessionId: 's', updatedAt: LATER, openWake: { owner, startedAt: SINCE } }) as unknown as SessionState;

function factsOf(more: Partial<WakerFacts> = {}): WakerFacts & { readonly problems: unknown[] } {
  const problems: unknown[] = [];
  return {
    problems,
    text: new InspectedText(undefined),
    owner: 'here:1',
    processTree: {
      usageOf: async (pid) => (pid === 404 ? undefined : { processorMs: pid, residentBytes: 2 * pid }),
    },
    onProblem: (error) => void problems.push(error),
    ...more,
  };
}

describe('who wakes a session', () => {
  it.each([
    ['here:1', { place: 'this', host: 'here', pid: 1, processorMs: 1, residentBytes: 2 }],
    ['here:7', { place: 'here', host: 'here', pid: 7, processorMs: 7, residentBytes: 14 }],
    ['here:404', { place: 'here', host: 'here', pid: 404 }],
    ['far:7', { place: 'elsewhere', host: 'far', pid: 7 }],
    ['::1:7', { place: 'elsewhere', host: '::1', pid: 7 }],
    ['no address', { place: 'elsewhere' }],
  ])('is told of %s', async (owner, expected) => {
    expect(await workerOf(awake(owner), factsOf())).toEqual({ owner, since: SINCE, heardAt: LATER, ...expected });
  });

  it('is no other process that has its pid now, and is shown with its command line, without secrets', async () => {
    const startedAtMs = Date.parse(SINCE) - 60_000;
    const commandLine = [
      'node',
      '/srv/wakechart',
      'worker',
      '--store',
      'postgres://me:geheim@db/x',
      '--token',
      'geheim',
    ];
    const usageOf = async (pid: number) => ({
      processorMs: 1,
      startedAtMs: startedAtMs + (pid - 1) * 90_000,
      commandLine,
    });
    const told = (pid: number) => workerOf(awake(`here:${pid}`), factsOf({ processTree: { usageOf } }));
    expect(await told(1)).toMatchObject({
      processorMs: 1,
      commandLine: 'node /srv/wakechart worker --store postgres://me:…@db/x --token …',
    });
    expect(await told(2)).not.toHaveProperty('processorMs');
    const former = await formerWorkersOf(
      awake('here:7'),
      new Map([['here:2', SINCE]]),
      factsOf({ processTree: { usageOf } }),
    );
    expect(former).toMatchObject([{ pid: 2, state: 'gone' }]);
  });

  it.each([
    [['psql', 'host=h password=geheim'], 'psql "host=h password=…"'],
    [['psql', "--dsn=password='ge heim' host=h"], 'psql "--dsn=password=… host=h"'],
    [['curl', '-H', 'Authorization: Bearer geheim'], 'curl -H "Authorization: …"'],
    [['curl', '-H', 'Authorization:', 'Bearer', 'geheim'], 'curl -H Authorization: … …'],
    [['curl', '-d', '{"apiKey":"geheim"}'], 'curl -d {"apiKey":…'],
    [['node', 'w', '--pass', 'geheim', '--pwd=geheim', '--token', '-geheim'], 'node w --pass … --pwd=… --token …'],
    [['node', 'w', 'DB=postgres://me@firm:ge@/heim@h/x?sslmode=on'], 'node w DB=postgres://me@firm:…@h/x?sslmode=on'],
    [['node', 'w', '?password=geheim', `-p${'geheim'.repeat(400)}`], 'node w ?password=… …'],
    [['node', 'worker.js', '--home', '/srv/h', '--concurrency=4'], 'node worker.js --home /srv/h --concurrency=4'],
  ])('shows none of the secrets in %j', async (commandLine, shown) => {
    const usageOf = async () => ({ processorMs: 1, commandLine });
    expect((await workerOf(awake('here:7'), factsOf({ processTree: { usageOf } })))?.commandLine).toBe(shown);
  });

  it.each([
    ['wakechart worker', true],
    ['node dist/cli/main.js --home /wake --json worker --until-idle', true],
    ['wakechart --home=/h serve mcp', true],
    ['wakechart serve mcp --no-worker', undefined],
    ['wakechart serve http', undefined],
    ['wakechart wake --session x', undefined],
    ['wakechart --home worker wake', undefined],
    ['wakechart chat', undefined],
    ['node server.js', undefined],
  ])('is known to be a worker by its command only: %s', async (line, isWorker) => {
    const usageOf = async () => ({ processorMs: 1, commandLine: line.split(' ') });
    expect((await workerOf(awake('here:7'), factsOf({ processTree: { usageOf } })))?.isWorker).toBe(isWorker);
  });

  it('has the time by which it has to tell that it lives, where it is the one that has the right', async () => {
    const fleet: NonNullable<WakerFacts['fleet']> = {
      workerOf: async () => ({ owner: 'far:7', aliveUntil: '2026-01-01T00:00:40.000Z' }),
    };
    expect(await workerOf(awake('far:7'), factsOf({ fleet }))).toMatchObject({
      aliveUntil: '2026-01-01T00:00:40.000Z',
    });
    const taken = await workerOf(awake('far:8'), factsOf({ fleet }));
    expect(taken).toMatchObject({ takenBy: 'far:7' });
    expect(taken).not.toHaveProperty('aliveUntil');
  });

  it('is told without what could not be asked', async () => {
    const fail = (): Promise<never> => Promise.reject(new Error('no'));
    const facts = factsOf({ fleet: { workerOf: fail }, processTree: { usageOf: fail } });
    expect(await workerOf(awake('here:7'), facts)).toMatchObject({ place: 'here' });
    expect(facts.problems).toHaveLength(2);
    expect(await workerOf({ ...awake('here:7'), openWake: undefined }, facts)).toBeUndefined();
  });
});

describe('those that woke it before', () => {
  const owners = new Map(['here:5', 'far:6', 'here:404', 'here:7'].map((owner) => [owner, SINCE]));
  const usageOf = async (pid: number) =>
    pid === 404 ? undefined : { processorMs: 1, ...(pid === 5 ? { isSuspended: true as const } : {}) };

  it('are told as far as they are of this machine, the last first, with who is suspended', async () => {
    const facts = factsOf({ processTree: { usageOf } });
    const former = await formerWorkersOf(awake('here:7'), owners, facts);
    expect(former).toEqual([
      { host: 'here', pid: 404, state: 'gone', since: SINCE },
      { host: 'here', pid: 5, state: 'suspended', since: SINCE },
    ]);
    expect(suspendedOf(await workerOf(awake('here:7'), facts), former)).toEqual([{ host: 'here', pid: 5 }]);
    expect(suspendedOf(await workerOf(awake('here:5'), facts), [])).toEqual([{ host: 'here', pid: 5 }]);
    expect(await formerWorkersOf({ ...awake('here:7'), openWake: undefined }, owners, facts)).toEqual([]);
  });
});

it('have their command lines while they live, without secrets', async () => {
  const owners = new Map(['here:5', 'here:6'].map((owner) => [owner, SINCE]));
  const usageOf = async (pid: number) => ({
    ...(pid === 6 ? { startedAtMs: Date.parse(LATER) + 60_000 } : {}),
    commandLine: ['wakechart', 'worker', '--token', 'hidden'],
  });
  expect(await formerWorkersOf(awake('here:7'), owners, factsOf({ processTree: { usageOf } }))).toEqual([
    { host: 'here', pid: 6, state: 'gone', since: SINCE },
    { host: 'here', pid: 5, state: 'running', since: SINCE, commandLine: 'wakechart worker --token …' },
  ]);
});

describe('a session is stuck', () => {
  const state = (phase?: 'started' | 'requested'): SessionState =>
    ({ ...awake('here:1'), openToolCalls: phase === undefined ? [] : [{ phase }] }) as unknown as SessionState;
  const after = (minutes: number): number => Date.parse(LATER) + minutes * 60_000;

  it('that has stored nothing for ten minutes, or in a call for an hour, while a wake is open', () => {
    expect([isStuck(state(), after(9.9)), isStuck(state(), after(10))]).toEqual([false, true]);
    expect([isStuck(state('requested'), after(10)), isStuck(state('started'), after(59))]).toEqual([true, false]);
    expect(isStuck(state('started'), after(60))).toBe(true);
    expect(isStuck({ ...state(), openWake: undefined }, after(600))).toBe(false);
  });

  it('for three times as long as what runs took before, where that is known, and two minutes at least', () => {
    const usual = (seconds: number): { readonly usualMs: number } => ({ usualMs: seconds * 1_000 });
    expect([isStuck(state(), after(1.9), usual(12)), isStuck(state(), after(2), usual(12))]).toEqual([false, true]);
    expect(isStuck(state('started'), after(2), usual(12))).toBe(true);
    expect([isStuck(state(), after(14), usual(300)), isStuck(state(), after(15), usual(300))]).toEqual([false, true]);
  });

  it('not as long as what it runs puts something out', () => {
    const lastActivityAt = new Date(after(59)).toISOString();
    expect(isStuck(state('started'), after(60), { lastActivityAt })).toBe(false);
  });
});
