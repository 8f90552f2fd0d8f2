import { describe, expect, it } from 'vitest';
import { processStat } from '../../../src/machines/task/process-stat.ts';

/**
 * As Linux writes it: the letter of the state is the third field, the number of threads the 20th, the beginning the
 * 22nd.
 */
const line = ({ name = 'node', state = 'S', threads = 1 }): string =>
  `4711 (${name}) ${state} 1 4711 4711 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 ${threads} 0 987654 1000 200\n`;

describe('the line of a process', () => {
  it('tells when it began', () => {
    expect(processStat(line({}))).toEqual({ began: '987654', isOver: false });
  });

  it.each(['a b', 'a) Z 1 (b', ')', '((', ''])('is read behind its name, also if that is %j', (name) => {
    expect(processStat(line({ name }))).toEqual({ began: '987654', isOver: false });
  });

  it.each([
    ['Z', 1, true],
    ['Z', 0, true],
    ['X', 1, true],
    ['x', 0, true],
    ['Z', 2, false],
    ['T', 1, false],
    ['D', 1, false],
    ['R', 9, false],
  ])('with the state %s and %i threads says whether only its name is left: %s', (state, threads, isOver) => {
    expect(processStat(line({ state, threads })).isOver).toBe(isOver);
  });

  it('that is torn or empty tells no beginning', () => {
    expect(processStat('')).toEqual({ began: '', isOver: false });
    expect(processStat('4711 (node) S 1 4711').began).toBe('');
  });
});
