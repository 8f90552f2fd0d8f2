/** What is told of the process that wakes a session: that it died only where it did. */
import { describe, expect, it } from 'vitest';
import { formerWords, wakerWords } from '../../../src/adapters/inspector-page/sessions/worker-words.ts';

type Worker = Parameters<typeof wakerWords>[0];
type Kind = Parameters<typeof wakerWords>[1]['reasons'][number]['kind'];

const toldOf = (more: Partial<Worker>, kind: Kind): readonly unknown[] => {
  const worker: Worker = { owner: 'vm:1', place: 'here', since: '2026-01-01T00:00:00.000Z', ...more };
  const { words, isOver } = wakerWords(worker, { reasons: [{ kind }] });
  return [words.text, words.status, isOver];
};

describe('a process that wakes a session', () => {
  it.each<readonly [Partial<Worker>, Kind, ReturnType<typeof toldOf>]>([
    [{ processorMs: 1 }, 'running', ['wakes it', 'running', false]],
    [{ processorMs: 1, isSuspended: true }, 'suspended', ['wakes it, and is suspended', 'error', false]],
    [{}, 'dead', ['died', 'error', true]],
    [{ processorMs: 1 }, 'lost', ['lives, its wake was lost', 'waiting', true]],
    [{ processorMs: 1, takenBy: 'vm:2' }, 'running', ['lives, its wake was taken by vm:2', 'waiting', true]],
    [{ place: 'elsewhere', takenBy: 'vm:2' }, 'dead', ['its wake was taken by vm:2', 'waiting', true]],
  ])('%j, where it is %s', (worker, kind, told) => {
    expect(toldOf(worker, kind)).toEqual(told);
  });
});

describe('one that woke it before', () => {
  it('lives, is suspended or gone, and had its wake taken by another or not', () => {
    expect(formerWords('running', true).text).toBe('lives, its wake was taken by another');
    expect(formerWords('suspended', true)).toEqual({
      text: 'is suspended, its wake was taken by another',
      status: 'error',
    });
    expect(formerWords('gone', false).text).toBe('woke it before, and is gone');
  });
});
