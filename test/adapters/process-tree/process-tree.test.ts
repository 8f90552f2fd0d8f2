/** The two ways to look at processes keep the same contract; and what bad options and bad systems get. */
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { describeProcessTreeContract } from '../../actors/task/process-tree-contract.ts';

describeProcessTreeContract({
  name: 'through /proc',
  create: (options) => createProcessTree({ ...options, lookThrough: 'proc' }),
  catchesHoppers: true,
});

describeProcessTreeContract({
  name: 'through ps',
  create: (options) => createProcessTree({ ...options, lookThrough: 'ps' }),
  catchesHoppers: false,
});

describe('process tree options', () => {
  it.each([NaN, -1, Infinity])('are refused with the proof timeout %d', (proofTimeoutMs) => {
    expect(() => createProcessTree({ clock: createSimulatedClock(), proofTimeoutMs })).toThrow(expect.objectContaining({ category: 'validation' }));
  });
});
