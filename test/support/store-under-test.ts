/**
 * The stores that suites of real processes run over: the same scenarios and the same checks, whatever keeps the
 * sessions. Where they are is said in plain JSON, so that it can be told to a process; it is what `createNodeRuntime`
 * wants to know too.
 */
import { cpSync, rmSync } from 'node:fs';
import type { EventStore } from '../../src/actors/session/event-store.ts';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { FileEventStore } from '../../src/adapters/files/file-event-store.ts';
import type { Runtime } from '../../src/runtime.ts';
import type { WakeOutcome } from '../../src/machines/wake/wake-outcome.ts';
import { temporaryHome } from './temporary-home.ts';

export interface Place {
  /** Absolute path. */
  readonly home: string;
  /** Absent where the home keeps the sessions too. */
  readonly store?: { readonly postgres: string };
}

/** A place of a test's own. */
export interface Setup {
  readonly place: Place;
  remove(): Promise<void>;
}

export interface StoreUnderTest {
  readonly name: 'files' | 'postgres';
  /**
   * What its runtimes are opened with, so that the dead count as dead soon: nothing where the system tells at once that
   * a process is gone.
   */
  readonly lease: { readonly leaseMs?: number };
  /**
   * In chaos: far below how long a process is stopped at most, and longer than a sign of life takes on a machine that
   * is busy.
   */
  readonly shortLeaseMs: number;
  setup(): Promise<Setup>;
  /** One that begins as the other is now. Nobody may be at work there. */
  copyOf(place: Place): Promise<Setup>;
  open(place: Place): Promise<EventStore>;
  /** The time is over for which those who have died may still count as alive: all, or the process of this number. */
  forgetTheDead(place: Place, pid?: number): Promise<void>;
  /** Wakes a session whose holder is dead, or silent. */
  takeOver(runtime: Runtime, sessionId: string): Promise<WakeOutcome>;
}

export const filesStore: StoreUnderTest = {
  name: 'files',
  lease: {},
  shortLeaseMs: 300,
  async setup() {
    const { path, remove } = await temporaryHome();
    return { place: { home: path }, remove };
  },
  async copyOf({ home }) {
    const path = await copyOfHome(home);
    return { place: { home: path }, remove: async () => rmSync(path, { recursive: true, force: true }) };
  },
  open: async ({ home }) => new FileEventStore({ home, clock: createSystemClock() }),
  forgetTheDead: async () => undefined,
  takeOver: (runtime, sessionId) => runtime.wake(sessionId),
};

/** At once: a promise for each of its hundred steps costs six times as much. @returns its absolute path */
export async function copyOfHome(home: string): Promise<string> {
  const { path } = await temporaryHome();
  cpSync(home, path, { recursive: true, preserveTimestamps: true });
  return path;
}
