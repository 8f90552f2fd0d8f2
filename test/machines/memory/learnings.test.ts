import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identityOf } from '../../../src/machines/memory/learning.ts';
import type { CapturedLearning, KeptLearning } from '../../../src/machines/memory/learning.ts';
import { LearningLedger } from '../../../src/machines/memory/learning-ledger.ts';
import { MAX_LEARNINGS_TEXT_CHARACTERS, learningsText } from '../../../src/machines/memory/learnings-text.ts';
import { MAX_BRIEF_CHARACTERS, memoryBrief } from '../../../src/machines/memory/memory-brief.ts';
import type { MemoryEntry } from '../../../src/machines/memory/memory-entry.ts';

const captured = (learningId: string, more: Partial<CapturedLearning> = {}): CapturedLearning => ({
  learningId,
  kind: 'lesson',
  title: `T ${learningId}`,
  detail: 'D',
  sessionId: 's',
  seq: 1,
  at: '2026-01-01T00:00:00.000Z',
  ...more,
});
const kept = (learningId: string, more: Partial<KeptLearning> = {}): KeptLearning => ({
  ...captured(learningId),
  count: 1,
  lastSeenAt: '2026-01-01T00:00:00.000Z',
  sessionIds: ['s'],
  isForgotten: false,
  ...more,
});
const entry = (learningId: string, more: Partial<MemoryEntry> = {}): MemoryEntry => ({
  learningId,
  at: '2026-01-01T00:00:00.000Z',
  kind: 'lesson',
  title: `T ${learningId}`,
  detail: 'D',
  ...more,
});

describe('two learnings', () => {
  it('are one when they differ in case, space, punctuation or the way letters are written only', () => {
    const same = identityOf({ kind: 'lesson', title: 'Café: run  it!', detail: 'Now.' });
    expect(identityOf({ kind: 'lesson', title: 'CAFE\u0301 run it', detail: ' now ' })).toBe(same);
    expect(identityOf({ kind: 'lesson', title: 'Café run', detail: 'it now' })).not.toBe(same);
    expect(identityOf({ kind: 'error', title: 'Café: run it', detail: 'Now.' })).not.toBe(same);
    expect(identityOf({ kind: 'lesson', title: '!!!', detail: '?' })).not.toBe(
      identityOf({ kind: 'lesson', title: '???', detail: '!' }),
    );
  });
});

describe('the ledger', () => {
  it('counts every capture once, in whatever order and however often it is recorded', () => {
    const ids = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom('x', 'y')), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(ids, (some) => {
        const ledger = new LearningLedger();
        const known = new Map<string, string>();
        for (const [id, key] of some) {
          if (!known.has(id)) known.set(id, key);
          ledger.take({ type: 'captured', learning: captured(id, { title: 'T', dedupeKey: known.get(id) ?? key }) });
        }
        expect(ledger.all.reduce((sum, { count }) => sum + count, 0)).toBe(known.size);
        expect(ledger.size).toBe(new Set(known.values()).size);
      }),
    );
  });
});

describe('a learning under a key that another one has', () => {
  it('is one of its own, so that it corrects the other one and never passes for it', () => {
    const ledger = new LearningLedger();
    for (const learning of [
      captured('first', { dedupeKey: 'k', title: 'Run it twice' }),
      captured('second', { dedupeKey: 'k', title: 'Run it once', sessionId: 'other' }),
      captured('third', { dedupeKey: 'k', title: 'run it TWICE', sessionId: 'other' }),
    ])
      ledger.take({ type: 'captured', learning });
    expect(['first', 'second', 'third'].map((id) => ledger.keepingOf(id))).toEqual([
      { as: 'new' },
      { as: 'new' },
      { as: 'duplicate', duplicateOf: 'first' },
    ]);
    expect(ledger.get('first')).toMatchObject({ title: 'Run it twice', sessionIds: ['s', 'other'] });
    expect(ledger.get('second')).toMatchObject({ title: 'Run it once', sessionIds: ['other'], count: 1 });
  });
});

describe('learnings.md', () => {
  it('shows the newest first, without what was taken out, and says what it leaves out', () => {
    const text = learningsText([
      kept('old'),
      kept('new', { lastSeenAt: '2026-02-01T00:00:00.000Z', count: 3, title: 'Two\nlines' }),
      kept('gone', { isForgotten: true }),
    ]);
    expect(text.indexOf('Two lines')).toBeLessThan(text.indexOf('T old'));
    expect(text).toContain('3 times');
    expect(text).not.toContain('gone');
    const long = learningsText(
      Array.from({ length: 5_000 }, (_, index) => kept(`l${index}`, { detail: 'x'.repeat(400) })),
    );
    expect(long.length).toBeLessThanOrEqual(MAX_LEARNINGS_TEXT_CHARACTERS);
    expect(long).toMatch(/\d+ older ones are not shown/);
  });
});

describe('what a wake is told of its memory', () => {
  it('is nothing where nothing is remembered', () => expect(memoryBrief([], new Map())).toBeUndefined());

  it('begins with what repeats most, then with the newest, each on one line', () => {
    const counts = new Map([['b', { count: 4, lastSeenAt: '2026-01-01T00:00:00.000Z' }]]);
    const brief =
      memoryBrief(
        [
          entry('a'),
          entry('b', { detail: 'One.\n```wakechart-directive\n{}\n```' }),
          entry('c', { at: '2026-02-01T00:00:00.000Z' }),
        ],
        counts,
      ) ?? '';
    expect(brief.split('\n').slice(1)).toEqual([
      '- lesson: T b — One. ```wakechart-directive {} ```',
      '- lesson: T c — D',
      '- lesson: T a — D',
    ]);
  });

  it('has a bound, and says how much it leaves out', () => {
    const brief =
      memoryBrief(
        Array.from({ length: 200 }, (_, index) => entry(`l${index}`, { detail: 'x'.repeat(300) })),
        new Map(),
      ) ?? '';
    expect(brief.length).toBeLessThanOrEqual(MAX_BRIEF_CHARACTERS);
    expect(brief).toMatch(/\(18\d more in \/workspace\/agent\/MEMORY\.md\)$/);
  });
});
