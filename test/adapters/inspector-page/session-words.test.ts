/** How sessions are searched for, what commands look like, and how long it is until something happens. */
import { describe, expect, it } from 'vitest';
import type { ShownSummary } from '../../../src/actors/inspection/shown-answers.ts';
import { commandLine } from '../../../src/adapters/inspector-page/sessions/command-line.ts';
import { left } from '../../../src/adapters/inspector-page/model/words.ts';
import {
  SESSION_FILTERS,
  endOfLimit,
  firstToOpen,
  matching,
  quietText,
  silentMs,
} from '../../../src/adapters/inspector-page/sessions/session-words.ts';

function session(sessionId: string, changes: Partial<ShownSummary> = {}): ShownSummary {
  return {
    sessionId,
    agentId: 'fixer',
    status: 'idle',
    stopReason: 'idle',
    pendingActions: 0,
    words: { text: 'rests', status: 'quiet' },
    ...changes,
  };
}

describe('sessions in a list', () => {
  it('are found by every word that they say', () => {
    const all = [
      session('a', { title: 'Mend the cart' }),
      session('b', { words: { text: 'runs', status: 'running' } }),
    ];
    expect(matching(all, 'CART fix').map(({ sessionId }) => sessionId)).toEqual(['a']);
    expect(matching(all, 'runs').map(({ sessionId }) => sessionId)).toEqual(['b']);
    expect(matching(all, '  ')).toEqual(all);
  });
});

describe('the filters of the list', () => {
  it('take in each session once, besides "all" and "failing"', () => {
    const all = [
      session('a', { need: 'answer' }),
      session('b', { need: 'attention', words: { text: 'is parked', status: 'error' } }),
      session('c', { words: { text: 'runs', status: 'running' } }),
      session('d'),
      session('e', { need: 'left' }),
    ];
    const found = SESSION_FILTERS.map(({ id, fits }) => [id, all.filter(fits).map(({ sessionId }) => sessionId)]);
    expect(found).toEqual([
      ['all', ['a', 'b', 'c', 'd', 'e']],
      ['need', ['a', 'b']],
      ['bad', ['b']],
      ['left', ['e']],
      ['run', ['c']],
      ['rest', ['d']],
    ]);
  });
});

describe('a session that runs and tells nothing', () => {
  it('is said to be silent where that is unusual', () => {
    const running = session('a', { updatedAt: new Date(0).toISOString() });
    expect([silentMs(running, 600_000), silentMs({ ...running, isStuck: true }, 600_000)]).toEqual([
      undefined,
      600_000,
    ]);
  });
});

describe('a command that runs and puts out nothing', () => {
  it('says from the start how long it is silent, and what is left of its limit', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const ends = endOfLimit([
      { state: 'running', host: 'other', startedAt: at, limitMs: 600_000 },
      { state: 'gone', host: 'other', startedAt: at },
      // Its process died, which would have ended it.
      { state: 'running', host: 'dead', startedAt: at, limitMs: 1 },
    ]);
    expect(quietText(Date.parse(at) + 3_000, { lastActivityAt: at, endsAtMs: ends })).toMatch(
      /^silent 3.*s, 9 min.* left of its limit$/,
    );
    expect(endOfLimit([])).toBeUndefined();
  });

  it('is said to be silent after a while', () => {
    const running = session('a', { lastActivityAt: new Date(0).toISOString() });
    expect([silentMs(running, 5_000), silentMs(running, 120_000)]).toEqual([undefined, 120_000]);
  });
});

describe('what the page opens on', () => {
  const at = (ms: number): Partial<ShownSummary> => ({ updatedAt: new Date(ms).toISOString() });
  const runs = { words: { text: 'runs', status: 'running' } } as const;

  it('is what needs a person, else what runs and was silent longest, else the first of the list', () => {
    const idle = session('idle', at(9));
    const [young, old] = [session('young', { ...runs, ...at(8) }), session('old', { ...runs, ...at(1) })];
    const needing = session('needing', { need: 'left', ...at(0) });
    expect(firstToOpen([idle, young, old, needing])?.sessionId).toBe('needing');
    expect(firstToOpen([idle, young, old])?.sessionId).toBe('old');
    expect(firstToOpen([idle, session('other', at(2))])?.sessionId).toBe('idle');
    expect(firstToOpen([])).toBeUndefined();
  });
});

describe('a command', () => {
  it('is quoted as a shell takes it', () => {
    expect(commandLine(['session', 'answer', '--text', "it's", '$(rm)'])).toBe(
      String.raw`wakechart session answer --text 'it'\''s' '$(rm)'`,
    );
  });
});

describe('the time that is left', () => {
  it.each([
    [7 * 86_400_000 - 1_000, '7 d'],
    [86_400_000, '1 d'],
    [5_400_000, '1 h'],
    [-5, '0 ms'],
  ])('of %d ms is told as %s', (ms, text) => {
    expect(left(ms)).toBe(text);
  });
});
