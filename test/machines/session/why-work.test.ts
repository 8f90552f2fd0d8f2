/** What a session says whose wakes are lost, and one that came to rest with a failure. */
import { describe, expect, it } from 'vitest';
import { needOf, statusOf } from '../../../src/machines/inspection-log/session-words.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { callText, underWayText } from '../../../src/machines/session/why-work.ts';
import type { SessionWork } from '../../../src/machines/session/why-work.ts';
import { explain } from '../../../src/machines/session/why.ts';
import type { Explanation } from '../../../src/machines/session/why.ts';
import {
  START_MS,
  asked,
  consumed,
  created,
  idOf,
  message,
  parked,
  resting,
  running,
  stateAfter,
  toolStarted,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

const told = (drafts: readonly SessionEventDraft[], work: SessionWork = {}): Explanation =>
  explain(stateAfter(...drafts), START_MS, { work });
const lost = (epoch: number): readonly SessionEventDraft[] => [
  wakeEnded(`wake_${epoch}`, 'lost'),
  wakeStarted(epoch + 1),
];
const awake = [created, message('Go.'), wakeStarted(1), running];
const result = (output: object, outcome: 'completed' | 'failed' | 'cancelled' = 'completed'): SessionEventDraft => ({
  type: 'agent.tool_result',
  data: { callId: 'c', name: 'shell_run', outcome, output: { ...output } },
});
const rested = (...results: readonly SessionEventDraft[]): readonly SessionEventDraft[] => [
  ...awake,
  consumed([idOf(2)], 's'),
  asked('c', 's'),
  toolStarted('c'),
  ...results,
  wakeEnded('wake_1', 'sleep'),
  resting,
];
const SUSPENDED = [{ host: 'vm', pid: 12 }];

describe('a session whose wakes are lost', () => {
  it('needs attention from the second one in a row on', () => {
    expect(told([...awake, ...lost(1)]).reasons[0]?.kind).toBe('running');
    const [first, second] = told([...awake, ...lost(1), ...lost(2)]).reasons;
    expect(first?.text).toMatch(
      /^Its last wake was lost, the 2nd in a row that failed: processes take it from each other, or die of it\./,
    );
    expect([first?.kind, second?.kind]).toEqual(['losing', 'running']);
    expect(second?.text).not.toContain('The wake before it was lost');
    expect(statusOf('losing').status).toBe('error');
  });

  it('names who is suspended, by which command that goes on or ends, and what prevents it', () => {
    const [first] = told([...awake, ...lost(1)], { suspended: SUSPENDED }).reasons;
    expect(first?.text).toContain('Its last wake was lost');
    expect(first?.text).toContain('the process 12 on vm is suspended (stopped)');
    expect(first?.movers.map(({ program }) => program?.join(' '))).toEqual([
      'kill -CONT 12',
      'kill -KILL 12',
      undefined,
    ]);
    expect(first?.movers.at(-1)?.does).toContain('leaseMs');
    expect(told(awake, { suspended: SUSPENDED }).reasons[0]?.text).toBe('The process 12 on vm is suspended (stopped).');
  });

  it('says no such thing where the process that wakes it is suspended itself', () => {
    const suspended = [{ host: 'vm', pid: 12 }];
    const held: SessionEventDraft = {
      type: 'wake.started',
      data: { wakeId: 'wake_1', epoch: 1, owner: 'vm:12', queuedWakeIds: [] },
    };
    const facts = { work: { suspended }, isWakeDead: true };
    const [first] = explain(stateAfter(created, message('Go.'), held, running), START_MS, facts).reasons;
    expect(first?.kind).toBe('suspended');
    expect(first?.text).toBe(
      'The process 12 on vm, which wakes it, is suspended (stopped): nothing goes on until it is let go on, or another process takes the session over.',
    );
    expect(first?.movers[0]?.program).toEqual(['kill', '-CONT', '12']);
    expect(statusOf('suspended').status).toBe('error');
  });

  it('says who takes it from whom, and which of them to end first', () => {
    const work = { suspended: SUSPENDED, rivals: [...SUSPENDED, { host: 'vm', pid: 9 }] };
    const [first] = told([...awake, ...lost(1), ...lost(2)], work).reasons;
    expect(first?.text).toMatch(
      /^Processes take it from each other: test wakes it, and 12 on vm, 9 on vm, which did before, live\. Its last wake was lost, the 2nd in a row that failed; the process 12/,
    );
    expect(first?.movers.slice(0, 2).map(({ program }) => program?.join(' '))).toEqual(['kill -KILL 12', 'kill 9']);
  });

  it('offers to end no worker that is the last one', () => {
    const held = { suspended: SUSPENDED, rivals: SUSPENDED, isHolderAlive: false };
    const [first] = told([...awake, ...lost(1), ...lost(2)], held).reasons;
    expect(JSON.stringify(first?.movers)).not.toContain('one process is left to wake it"');
  });

  it('says that all of them are suspended', () => {
    const work = { suspended: [{ host: 'vm', pid: 7 }, ...SUSPENDED], rivals: SUSPENDED };
    const wake: SessionEventDraft = {
      type: 'wake.started',
      data: { wakeId: 'wake_2', epoch: 2, owner: 'vm:7', queuedWakeIds: [] },
    };
    const [first] = told([...awake, wakeEnded('wake_1', 'lost'), wake], work).reasons;
    expect(first?.text).toMatch(
      /^Nothing goes on: vm:7, which wakes it, and 12 on vm, which did before, are suspended\./,
    );
    expect(first?.movers[0]?.program).toEqual(['kill', '-CONT', '7']);
  });

  it('names them still when it was parked', () => {
    const [first] = told([...awake, wakeEnded('wake_1', 'lost'), resting, parked], { suspended: SUSPENDED }).reasons;
    expect(first?.text).toContain('The process 12 on vm is suspended (stopped).');
    expect(first?.movers[0]?.program).toEqual(['kill', '-CONT', '12']);
  });

  it('says who took it from whom where it was parked, and offers to end none: no wake is open that they fight about', () => {
    const work = { suspended: SUSPENDED, rivals: [...SUSPENDED, { host: 'vm', pid: 9 }] };
    const [first] = told([...awake, wakeEnded('wake_1', 'lost'), resting, parked], work).reasons;
    expect(JSON.stringify(first?.movers)).not.toContain('KILL');
    expect(first?.text).toContain(' Processes took it from each other: 12 on vm, 9 on vm, which live. The process 12 ');
    expect(first?.movers[1]?.does).toMatch(/^prevents it: .* let one wake it/);
  });
});

describe('a session that came to rest', () => {
  it.each([
    [{ exitCode: 1, signalCode: null }, 'Its last call ended with exit code 1: shell_run “npm test”.'],
    [{ exitCode: null, signalCode: 'SIGTERM' }, 'Its last call was ended by SIGTERM: shell_run “npm test”.'],
  ])('says that its last call failed: %j', (output, text) => {
    const { reasons } = told(rested(result(output)), { calls: new Map([['c', 'npm test']]) });
    expect(reasons[0]).toMatchObject({ kind: 'left', text: expect.stringContaining(text) });
    expect(needOf({ status: 'idle', pendingActions: 0, why: { kind: 'left' } })).toBe('left');
  });

  it.each([
    ['grep -n TODO src', 'nothing'],
    ['cd src && FOO=1 /usr/bin/grep x a.ts', 'nothing'],
    ['npm test | grep failed', 'nothing'],
    ['git diff --exit-code', 'nothing'],
    ['npm test && grep x a.ts', 'left'],
    ['grep x a.ts; npm test', 'left'],
    ['git push', 'left'],
  ])('takes exit code 1 for an answer where it is one: %s', (line, kind) => {
    const calls = new Map([['c', line]]);
    expect(told(rested(result({ exitCode: 1 })), { calls }).reasons[0]?.kind).toBe(kind);
    expect(told(rested(result({ exitCode: 2 })), { calls }).reasons[0]?.kind).toBe('left');
  });

  it('says nothing of one that was cancelled, that was followed by one that went well, or by a message', () => {
    expect(told(rested(result({}, 'failed'))).reasons[0]?.kind).toBe('left');
    for (const drafts of [
      rested(result({}, 'cancelled')),
      rested(result({ exitCode: 1 }), asked('d', 's'), result({ exitCode: 0 })),
      [...rested(result({ exitCode: 1 })), message('And?'), wakeStarted(2), running, consumed([idOf(10)], 's')],
    ])
      expect(stateAfter(...drafts).failedCall).toBeUndefined();
    expect(told(rested(result({ exitCode: 0 }))).reasons[0]?.kind).toBe('nothing');
  });

  it('says what git has begun in its folder, and by which commands that is ended', () => {
    const underWay = { what: 'merge', folder: '/w', files: ['prices.json'] } as const;
    const [first] = told(rested(), { underWay }).reasons;
    expect(first?.text).toContain('A merge is in progress: prices.json is in conflict.');
    expect(first?.movers.map(({ program, command }) => (program ?? command)?.join(' '))).toEqual([
      'vi /w/prices.json',
      'git -C /w checkout --theirs -- prices.json',
      'git -C /w checkout --ours -- prices.json',
      'git -C /w commit --no-edit --include -- prices.json',
      'git -C /w merge --abort',
      expect.stringMatching(/session send .* --message The merge is finished\.$/) as string,
    ]);
  });

  it('ends a rebase, and a merge that is mended, as git does', () => {
    const lines = (what: 'merge' | 'rebase', ...files: readonly string[]): readonly unknown[] =>
      told(rested(), { underWay: { what, folder: '/w', files } }).reasons[0]?.movers.map(({ program }) =>
        program?.slice(3).join(' '),
      ) ?? [];
    expect(lines('rebase', 'a', 'b')).toEqual([
      '',
      '',
      'add -- a b',
      '-c core.editor=true rebase --continue',
      'rebase --abort',
      undefined,
    ]);
    expect(lines('merge')).toEqual(['-c core.editor=true merge --continue', 'merge --abort', undefined]);
  });
});

it('says of a merge that was finished since to tell the agent, then to wake it', () => {
  const work = { calls: new Map([['c', 'git merge --no-edit b']]), finished: 'merge' } as const;
  const [first] = told(rested(result({ exitCode: 1 })), work).reasons;
  expect(first?.text).toMatch(/^The merge is finished since; tell the agent, then wake it\./);
  expect(first?.movers[0]?.command?.at(-1)).toBe('The merge is finished.');
  expect(first?.movers.map(({ command }) => command?.slice(0, 2).join(' '))).toEqual([
    'session send',
    'wake --session',
  ]);
});

describe('the words of what is left', () => {
  it('are few, however many files there are', () => {
    expect(underWayText({ what: 'rebase', files: [] })).toBe('A rebase is in progress.');
    expect(underWayText({ what: 'merge', files: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] })).toBe(
      'A merge is in progress: a, b, c, d, e and 2 more are in conflict.',
    );
  });

  it('name a tool once', () => {
    expect([callText('read', 'read a.txt'), callText('shell_run', 'ls'), callText('x', undefined)]).toEqual([
      'read a.txt',
      'shell_run “ls”',
      'x',
    ]);
  });
});
