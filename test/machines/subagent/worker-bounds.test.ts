/** How much a worker may say beside its answer, and what of it is believed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  WORKER_DEPTH,
  WORKER_EXTRA_BYTES,
  WORKER_NOTE_CHARACTERS,
  WORKER_VALUES,
  believedMetadata,
  boundedMetadata,
  disbelievedMetadata,
  excessOf,
  noteOf,
} from '../../../src/machines/subagent/worker-bounds.ts';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

describe('what is said beside an answer', () => {
  it.each([
    undefined,
    null,
    0,
    '',
    [],
    {},
    { command: 'ls' },
    { content: 'x'.repeat(WORKER_EXTRA_BYTES - 100) },
    new Array<number>(WORKER_VALUES - 1).fill(0),
    nested(WORKER_DEPTH),
  ])('may be this much', (value) => {
    expect(excessOf(value)).toBeUndefined();
  });

  it.each([
    ['x'.repeat(WORKER_EXTRA_BYTES), 'bytes'],
    ['é'.repeat(WORKER_EXTRA_BYTES / 2), 'bytes'],
    [{ ['x'.repeat(WORKER_EXTRA_BYTES)]: 1 }, 'bytes'],
    [new Array<string>(3_000).fill('x'.repeat(100)), 'bytes'],
    [new Array<number>(WORKER_VALUES).fill(0), 'values'],
    [Object.fromEntries(Array.from({ length: WORKER_VALUES / 2 }, (_, index) => [index, 0])), 'values'],
    [nested(WORKER_DEPTH + 1), 'in each other'],
    [nested(5_000), 'in each other'],
  ])('is too much where it is more', (value, what) => {
    expect(excessOf(value)).toContain(what);
  });

  it('is never more than its limit in JSON where it passes', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 8 }),
        (value) => excessOf(value) !== undefined || JSON.stringify(value).length < 8 * WORKER_EXTRA_BYTES,
      ),
    );
  });

  it('is shortened to what may be said', () => {
    expect(noteOf('short')).toBe('short');
    expect(noteOf('x'.repeat(WORKER_NOTE_CHARACTERS))).toHaveLength(WORKER_NOTE_CHARACTERS);
    expect(noteOf('x'.repeat(10_000_000)).length).toBeLessThanOrEqual(WORKER_NOTE_CHARACTERS);
  });
});

describe('the metadata of a result', () => {
  it('goes on as it is, without secrets, but for where things lie, which the runtime says', () => {
    const given = {
      sessionId: 's',
      summary: 'a-long-secret!',
      usage: { tokens: 1 },
      tests: { passed: 3, log: ['a-long-secret'] },
      'a-long-secret': 1,
      constructor: 1,
      outputPath: '/etc/shadow',
      worktreePath: '/etc',
      'wakechart.sessionId': 'x',
    };
    const redaction = new SecretRedaction(new Map([['KEY', 'a-long-secret']]));
    expect(believedMetadata(given, redaction)).toEqual({
      sessionId: 's',
      summary: '[redacted KEY]!',
      usage: { tokens: 1 },
      tests: { passed: 3, log: ['[redacted KEY]'] },
      '[redacted KEY]': 1,
      constructor: 1,
    });
    expect(disbelievedMetadata(given)).toEqual(['outputPath', 'worktreePath', 'wakechart.sessionId']);
    expect(believedMetadata({}, redaction)).toEqual({});
  });

  it('is left out as far as it is too much, the largest first, with a note that names it', () => {
    const small = { sessionId: 's', tests: { passed: 3 } };
    expect(boundedMetadata(small)).toBe(small);
    const bounded = boundedMetadata({
      trace: 'x'.repeat(WORKER_EXTRA_BYTES),
      ...small,
      rows: Array.from({ length: WORKER_VALUES }, () => 1),
    });
    expect(bounded).toEqual({
      ...small,
      metadataLeftOut: expect.stringMatching(
        /^(?:trace, rows|rows, trace): expected at most \d+ (?:bytes|values), received more$/,
      ),
    });
    expect(excessOf(bounded)).toBeUndefined();
  });
});
