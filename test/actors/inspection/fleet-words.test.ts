/** The fleet in words. */
import { describe, expect, it } from 'vitest';
import type { FleetOverview } from '../../../src/actors/inspection/fleet.ts';
import { redactedFleet, shownFleet } from '../../../src/actors/inspection/fleet-words.ts';

const AT = '2026-01-01T00:10:00.000Z';
const SINCE = '2026-01-01T00:00:00.000Z';
const SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';

const NOBODY: FleetOverview = {
  at: AT,
  workers: { items: [], total: 0, isCut: false },
  leases: { items: [], total: 0, isCut: false },
  lag: { sessions: 0, isCut: false, parts: [] },
  parked: { items: [], total: 0, isCut: false },
  connections: { open: 3, most: 100 },
  isHearing: true,
};

const MANY: FleetOverview = {
  ...NOBODY,
  workers: {
    items: [
      { id: 'w1', owner: 'host-token:1', startedAt: SINCE, aliveUntil: AT, isAlive: true, wakes: 2, claims: 1 },
      { id: 'w2', owner: '', startedAt: SINCE, aliveUntil: SINCE, isAlive: false, wakes: 0, claims: 0 },
    ],
    total: 10_000,
    isCut: true,
  },
  leases: {
    items: [{ sessionId: SESSION, agentId: 'token', workerId: 'w9', isAlive: false, epoch: 4, since: SINCE }],
    total: 1,
    isCut: false,
  },
  lag: {
    sessions: 1_200,
    isCut: true,
    since: SINCE,
    parts: [{ tenant: 'token', priority: 'high', sessions: 1_200, since: SINCE }],
  },
  parked: { items: [{ sessionId: SESSION, agentId: 'writer', reason: 'the token is wrong' }], total: 1, isCut: false },
  isHearing: false,
};

describe('the fleet in words', () => {
  it('says what it means that there is no worker and nothing to do', () => {
    expect(shownFleet(NOBODY).parts.map(({ title, count, rows, note }) => [title, count, rows.length, note])).toEqual([
      [
        'Workers',
        '0',
        0,
        'No worker runs: what is due waits until one is started. 3 of 100 connections to the database are open. This program is told of news at once.',
      ],
      ['Wakes', '0', 0, 'No session is awake.'],
      ['Lag', '0 sessions', 0, 'Everything that is due has been taken.'],
      ['Parked', '0', 0, 'No session waits for a person to examine it.'],
    ]);
  });

  it('does not say that nothing waits where not everything was checked', () => {
    const { parts } = shownFleet({
      ...NOBODY,
      lag: { sessions: 0, isCut: true, parts: [] },
      parked: { items: [], total: 0, isCut: true },
    });
    expect(parts.slice(2).map(({ count, note }) => [count, note])).toEqual([
      ['at least 0 sessions', 'So much is due that has been taken that the search ended there.'],
      ['more than 0', undefined],
    ]);
  });

  it('tells each by what people know it by, and how many are left out', () => {
    const { at, parts } = shownFleet(MANY);
    expect(at).toBe(AT);
    expect(parts.map(({ rows }) => rows)).toEqual([
      [
        [{ text: 'host-token:1' }, { text: 'alive', status: 'done' }, { since: SINCE }, { text: '2' }, { text: '1' }],
        [{ text: 'w2' }, { text: 'silent', status: 'error' }, { since: SINCE }, { text: '0' }, { text: '0' }],
      ],
      [
        [
          { text: 'token 6789ab', session: SESSION },
          { text: 'w9' },
          { text: 'abandoned', status: 'error' },
          { since: SINCE },
          { text: '4' },
        ],
      ],
      [[{ text: 'token' }, { text: 'high' }, { text: '1,200' }, { since: SINCE }]],
      [[{ text: 'writer 6789ab', session: SESSION }, {}, { text: 'the token is wrong' }]],
    ]);
    expect(parts.map(({ count }) => count)).toEqual(['more than 10,000', '1', 'at least 1,200 sessions', '1']);
    expect(parts[0]?.note).toMatch(
      /^9,998 more are not listed\. .* is not told of news and searches for them every now and then\.$/,
    );
    for (const { columns, rows } of parts) for (const row of rows) expect(row).toHaveLength(columns.length);
  });

  it('has no secrets in what others wrote, and no long texts', () => {
    const cut = (text: string, most: number): string => text.replaceAll('token', '*****').slice(0, most);
    expect(JSON.stringify(redactedFleet(MANY, cut))).not.toContain('token');
    const long = {
      ...MANY,
      parked: { ...MANY.parked, items: [{ sessionId: SESSION, agentId: 'writer', reason: 'x'.repeat(9_000) }] },
    };
    expect(redactedFleet(long, cut).parked.items[0]?.reason).toHaveLength(500);
  });
});
