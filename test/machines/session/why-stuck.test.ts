/** What a session that is stuck says first: what to mend, and by which command. */
import { describe, expect, it } from 'vitest';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import type { Reason } from '../../../src/machines/session/why-reason.ts';
import type { SendingSchedule, Conditions } from '../../../src/machines/session/why-conditions.ts';
import { explain } from '../../../src/machines/session/why.ts';
import type { ExplainOptions } from '../../../src/machines/session/why.ts';
import {
  IDENTITY,
  START,
  START_MS,
  created,
  message,
  parked,
  resting,
  running,
  spanStarted,
  stateAfter,
  terminated,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

const awake = [created, message('Go.'), wakeStarted(1), running];
const firstReason = (drafts: readonly SessionEventDraft[], options: ExplainOptions = {}): Reason | undefined =>
  explain(stateAfter(...drafts), START_MS, options).reasons[0];
const commands = (reason: Reason | undefined): readonly string[] =>
  reason?.movers.map(({ command }) => command?.join(' ') ?? '') ?? [];

const refused = (hint: string): SessionEventDraft => ({
  type: 'wake.ended',
  data: {
    wakeId: 'wake_1',
    outcome: 'failed',
    summary: 'no',
    modelSteps: 0,
    completedWakeIds: [],
    error: { code: 'RUN_FAILED', category: 'provider', message: 'the model step failed (auth): no such key.', hint },
    retryAt: new Date(START_MS + 60_000).toISOString(),
  },
});
const RESET = 'Check the key, then forget what is held against it (wakechart auth reset --all) and wake it again.';

describe('a session that is stuck', () => {
  it('says first what its last wake failed of, and by which command it is asked again', () => {
    const reason = firstReason([...awake, refused(RESET), resting, parked]);
    expect(reason?.text).toBe(
      'It is parked and does not wake by itself: the model step failed (auth): no such key. too many',
    );
    expect(commands(reason)[0]).toBe('auth reset --all');
    expect(commands(firstReason([...awake, refused(RESET), resting]))[0]).toBe('auth reset --all');
  });

  it('is not led there by an error that no reset helps', () => {
    expect(commands(firstReason([...awake, refused('Wait a little.'), resting, parked]))).not.toContain(
      'auth reset --all',
    );
  });

  it('says first that a budget has to be raised, where that has parked it', () => {
    const reason = firstReason([...awake, wakeEnded('wake_1', 'budget_reached'), resting, parked], {
      budget: { name: 'maxTokensPerSession', value: 5 },
    });
    expect(reason?.movers[0]?.does).toBe("raises budget.maxTokensPerSession in the agent's file");
  });

  it('says that no model can be asked yet, and why', () => {
    const skipped = [
      { candidate: { provider: 'lab', model: 'm' }, because: 'lab/m cools down until noon (auth: no such key)' },
    ];
    const reason = firstReason([...awake, spanStarted('s')], { modelWait: { skipped } });
    expect(reason?.text).toMatch(
      /by test: no model can be asked yet: lab\/m cools down until noon \(auth: no such key\);/,
    );
    expect(commands(reason)[0]).toBe('auth reset --all');
    expect(firstReason(awake, { modelWait: { skipped } })?.text).not.toContain('no model');
  });

  it('says that the wake before was lost', () => {
    expect(firstReason([...awake, wakeEnded('wake_1', 'lost'), wakeStarted(2), running])?.text).toMatch(
      /The wake before it was lost: its process died, or was suspended for longer than its lease\.$/,
    );
  });
});

it('says first for how long no worker has taken what is due', () => {
  const drafts = [created, message('Go.')];
  const told = (afterMs: number): string | undefined =>
    explain(stateAfter(...drafts), START_MS + afterMs).reasons[0]?.text;
  expect(told(34_000)).toMatch(
    /^No worker has taken it for \d+ s: none runs, or all are busy\. 1 message to be read; no wake has read it yet\.$/,
  );
  expect(told(0)).toMatch(/^1 message to be read/);
});

it('needs nothing of a person whose wake ended while its process lives, which is a worker', () => {
  const reason = firstReason(awake, { isWakeDead: true, work: { isHolderAlive: true, isHolderWorker: true } });
  expect(reason?.text).toMatch(/its process test lives\. A worker takes it up again by itself: nothing to do\./);
  expect(commands(reason)[0]).toBe('');
  expect(reason?.kind).toBe('lost');
});

it('is said to need a worker whose wake was lost by a process that is not known to be one', () => {
  const reason = firstReason(awake, { isWakeDead: true, work: { isHolderAlive: true } });
  expect(reason?.text).toMatch(/its process test lives, and is not known to be a worker\. A worker or another wake/);
  expect(commands(reason)).toEqual(['worker', expect.stringMatching(/^wake --session/)]);
});

const SOON = new Date(START_MS + 60_000).toISOString();
const clock = { id: 'news', sessionId: IDENTITY.sessionId, status: 'active', nextFireAt: SOON } as const;
const kinds = (drafts: readonly SessionEventDraft[], conditions: Conditions): readonly string[] =>
  explain(stateAfter(...drafts), START_MS, { conditions }).reasons.map(({ kind }) => kind);

describe('what there is around a session', () => {
  it('comes first where its disk is full, and only where it has something to do', () => {
    expect(kinds(awake, { freeBytes: 0 })).toEqual(['disk_full', 'running']);
    expect(kinds([created, message('Go.')], { freeBytes: 1_000 })).toEqual(['disk_full', 'unread']);
    expect(kinds([created, message('Go.')], { freeBytes: 1_000_000 })).toEqual(['unread']);
    expect(kinds([created], { freeBytes: 0 })).toEqual(['nothing']);
    expect(kinds([...awake, terminated], { freeBytes: 0, schedules: [clock] })).toEqual(['terminated']);
  });

  it('tells a schedule that is paused after those that fire', () => {
    const schedules = [{ ...clock, id: 'backup', status: 'paused' } as const, clock];
    const { reasons } = explain(stateAfter(created), START_MS, { conditions: { schedules } });
    expect(reasons.map(({ text }) => /schedule (\w+) sends/.exec(text)?.[1])).toEqual([undefined, 'news', 'backup']);
  });

  it('says where the disk is, and what is largest there', () => {
    const trace = '/srv/agents/a/workspace/trace.log';
    const largestFiles = [
      { path: trace, bytes: 4_194_304 },
      { path: '/srv/agents/a/events.jsonl', bytes: 4_096 },
    ];
    const full = { freeBytes: 0, home: '/srv/agents' };
    const [reason] = explain(stateAfter(...awake), START_MS, { conditions: { ...full, largestFiles } }).reasons;
    expect(reason?.text).toBe(
      'The disk of its home, /srv/agents, is full (0 bytes left): what happens cannot be written, so nothing goes on. Largest there: a/workspace/trace.log (4096 KiB).',
    );
    expect(reason?.movers[0]?.program).toEqual(['rm', '-i', trace]);
  });

  it('asks to remove nothing of a full disk but what an agent wrote', () => {
    const largestFiles = [{ path: '/srv/agents/a/events.jsonl', bytes: 4_096 }];
    const [reason] = explain(stateAfter(...awake), START_MS, { conditions: { freeBytes: 0, largestFiles } }).reasons;
    expect(reason?.movers[0]).toMatchObject({ does: expect.stringMatching(/^frees space on that disk; /) });
    expect(reason?.movers[0]?.program).toBeUndefined();
  });

  it('does not call a process dead that could not write', () => {
    const [, reason] = explain(stateAfter(...awake), START_MS, {
      isWakeDead: true,
      conditions: { freeBytes: 0 },
    }).reasons;
    expect(reason?.text).toMatch(/^Its wake could not write how it ended, or its process has died, test, /);
    const [, lives] = explain(stateAfter(...awake), START_MS, {
      isWakeDead: true,
      conditions: { freeBytes: 0 },
      work: { isHolderAlive: true, isHolderWorker: true },
    }).reasons;
    expect([lives?.kind, lives?.text]).toEqual([
      'lost',
      expect.stringMatching(
        /^Its wake could not write how it ended; its process test lives\. A worker goes on once there is space\. /,
      ),
    ]);
  });

  it.each<[string, Partial<SendingSchedule>, readonly string[], RegExp, string]>([
    [
      'is due',
      { dueSince: START },
      ['schedule', 'nothing'],
      /^No worker runs: the schedule news was due 0 s ago\.$/,
      'worker',
    ],
    [
      'is parked',
      { status: 'parked', because: 'it failed.' },
      ['schedule', 'nothing'],
      /sends nothing to it: it is parked: it failed\.$/,
      'schedule resume news',
    ],
    ['is paused', { status: 'paused' }, ['nothing', 'schedule'], /it is paused\.$/, 'schedule resume news'],
    ['has ended', { status: 'ended' }, ['nothing', 'schedule'], /it has ended\.$/, 'schedule show news'],
    ['will fire', {}, ['nothing', 'schedule'], /sends to it next, while a worker runs\.$/, 'worker'],
  ])('a schedule that %s is told, first where it should have sent', (_, changes, expected, text, command) => {
    const { reasons } = explain(stateAfter(created), START_MS, {
      conditions: {
        schedules: [
          { ...clock, ...changes },
          { ...clock, id: 'other', sessionId: 'another' },
        ],
      },
    });
    expect(reasons.map(({ kind }) => kind)).toEqual(expected);
    const reason = reasons.find(({ kind }) => kind === 'schedule');
    expect(reason?.text).toMatch(text);
    expect(commands(reason)[0]).toBe(command);
  });
});

const AGENT = { what: 'agent', id: 'coder' } as const;

it('lacks its agent first where only that keeps workers from it, and no mover is a plain wake', () => {
  const { reasons } = explain(stateAfter(created, message('Go.')), START_MS + 60_000, { lacks: AGENT });
  expect(reasons.map(({ kind }) => kind)).toEqual(['agent_missing', 'unread']);
  expect(reasons.flatMap((reason) => commands(reason)).filter(Boolean)).toEqual(['worker --config FILE']);
  expect(explain(stateAfter(...awake), START_MS, { lacks: AGENT }).reasons[0]?.kind).toBe('running');
});

it('lacks the environment that it works in, as it does its agent', () => {
  const lacks = { what: 'environment', id: 'tower' } as const;
  const [reason] = explain(stateAfter(created, message('Go.')), START_MS + 60_000, { lacks }).reasons;
  expect(reason).toMatchObject({
    kind: 'environment_missing',
    text: expect.stringContaining('There is no environment "tower" in the home of this machine') as string,
    movers: [{ does: 'gives the environment back: its file environments/tower.yaml, into the home' }, {}],
  });
  expect(commands(reason)).toContain('worker --config FILE');
});
