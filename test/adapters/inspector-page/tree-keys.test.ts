/** Where the keys of the tree lead. */
import { describe, expect, it } from 'vitest';
import { moveOf } from '../../../src/adapters/inspector-page/tree/tree-pane.tsx';

const place = { index: 3, count: 10, isOpen: undefined, parent: 1 } as const;

describe('a key in the tree', () => {
  it.each([
    ['ArrowDown', place, { to: 4 }],
    ['ArrowUp', place, { to: 2 }],
    ['ArrowUp', { ...place, index: 0 }, { to: 0 }],
    ['ArrowDown', { ...place, index: 9 }, { to: 9 }],
    ['ArrowDown', { ...place, index: -1 }, { to: 0 }],
    ['ArrowUp', { ...place, index: -1 }, { to: 0 }],
    ['Home', place, { to: 0 }],
    ['End', place, { to: 9 }],
    ['PageDown', place, { to: 9 }],
    ['PageUp', place, { to: 0 }],
    ['ArrowRight', { ...place, isOpen: false }, { open: true }],
    ['ArrowRight', { ...place, isOpen: true }, { to: 4 }],
    ['ArrowRight', place, undefined],
    ['ArrowLeft', { ...place, isOpen: true }, { open: false }],
    ['ArrowLeft', { ...place, isOpen: false }, { to: 1 }],
    ['ArrowLeft', { ...place, parent: -1 }, undefined],
    ['x', place, undefined],
    ['ArrowDown', { ...place, count: 0 }, undefined],
  ] as const)('%s at %j leads to %j', (key, at, to) => {
    expect(moveOf(key, at)).toEqual(to);
  });
});
