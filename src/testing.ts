/** What tests of code built on Wakechart need: time that stands still until it is moved. */
export { createSimulatedClock } from './actors/clock/simulated-clock.ts';
export type { SimulatedClock, SimulatedClockOptions } from './actors/clock/simulated-clock.ts';
