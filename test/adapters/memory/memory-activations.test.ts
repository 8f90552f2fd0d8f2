import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { MemoryActivations } from '../../../src/adapters/memory/memory-activations.ts';
import { describeActivationIndex } from '../../contracts/activation-index.contract.ts';

describeActivationIndex('memory', async () => {
  const index = new MemoryActivations();
  return { index, elsewhere: index, clock: createSimulatedClock(), dispose: async () => undefined };
});
