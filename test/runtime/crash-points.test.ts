import { expect, it } from 'vitest';
import { evenly, pointsWorthKilling } from './crash-points.ts';

const worth = (operations: readonly string[]): readonly string[] =>
  pointsWorthKilling(operations).map((point) => `${point} ${operations[point - 1]}`);

it('kills in place of every change, and not again in place of its flush', () => {
  expect(worth(['open a', 'write', 'datasync', 'write', 'sync', 'rename a'])).toEqual([
    '1 open a',
    '2 write',
    '4 write',
    '6 rename a',
  ]);
});

it('kills in place of a flush that nothing comes after', () => {
  expect(worth(['write', 'sync', 'rename a', 'sync'])).toEqual(['1 write', '3 rename a', '4 sync']);
});

it('kills before every statement, and while the server is at it', () => {
  const operations = ['ask one', 'answer one', 'ask two', 'answer two'];
  expect(pointsWorthKilling(operations)).toEqual([1, 2, 3, 4]);
});

it('kills in place of each of many writes to open files', () => {
  expect(pointsWorthKilling(['write', 'write', 'write', 'write', 'write'])).toEqual([1, 2, 3, 4, 5]);
});

it('kills in place of the first, one in the middle and the last of many that are begun at once', () => {
  expect(worth(['mkdir a', ...[1, 2, 3, 4, 5].map((n) => `open .draft-${n}`), 'rename b', 'rename b'])).toEqual([
    '1 mkdir a',
    '2 open .draft-1',
    '4 open .draft-3',
    '6 open .draft-5',
    '7 rename b',
    '8 rename b',
  ]);
});

it('spreads a few of them evenly', () => {
  expect(evenly([1, 2, 4, 6, 7, 9], 3)).toEqual([2, 6, 9]);
});
