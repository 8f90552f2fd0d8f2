/** The world of a real thing under test: its clock, and the calls that it makes, which settle when a plan says so. */
import type { Clock, TimerHandle } from '../actors/clock/clock.ts';
import { createSimulatedClock } from '../actors/clock/simulated-clock.ts';
import { plannedFailure } from '../machines/inspection/chart-walk.ts';
import type { ChartWorld } from './chart-adapter.ts';

interface PendingCall {
  readonly name: string;
  readonly work: (planned: unknown) => unknown;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** One for each run; each start of the real thing has a world of its own in it. */
export class Surroundings {
  readonly clock = createSimulatedClock();
  #calls: PendingCall[] = [];
  #current: { readonly armed: Set<TimerHandle> } | undefined;

  /** A world whose timers and calls end with the next crash. */
  world(): ChartWorld {
    const life = { armed: new Set<TimerHandle>() };
    this.#current = life;
    return {
      clock: mortalClock(this.clock, life.armed, () => this.#current === life),
      call: (name, work) =>
        new Promise((resolve, reject) => {
          // What a dead process calls reaches nothing.
          if (this.#current !== life) return;
          const planned = work ?? ((output: unknown) => output);
          this.#calls.push({ name, work: planned as PendingCall['work'], resolve: resolve as () => void, reject });
        }),
    };
  }

  crash(): void {
    for (const handle of this.#current?.armed ?? []) this.clock.clearTimeout(handle);
    this.#current = undefined;
    this.#calls = [];
  }

  /** Whether the real thing waits for a call or for time. */
  get isWaitedFor(): boolean {
    return this.#calls.length > 0 || this.clock.pendingTimers > 0;
  }

  /** Names of the calls that are under way, sorted. */
  get calls(): readonly string[] {
    return this.#calls.map(({ name }) => name).toSorted();
  }

  /** The newest call of this name goes through. @returns what it answers */
  async answer(name: string, planned: unknown): Promise<unknown> {
    const call = this.#take(name, 'newest');
    const output = await call?.work(planned);
    call?.resolve(output);
    return output;
  }

  async answerLate(name: string, planned: unknown): Promise<void> {
    const call = this.#take(name, 'oldest');
    call?.resolve(await call.work(planned));
  }

  /** @param isDone whether its work is done before the answer is lost */
  async fail(name: string, planned: unknown, isDone: boolean): Promise<void> {
    const call = this.#take(name, 'newest');
    if (isDone) await call?.work(planned);
    call?.reject(plannedFailure(name));
  }

  #take(name: string, which: 'newest' | 'oldest'): PendingCall | undefined {
    const isIt = (call: PendingCall): boolean => call.name === name;
    const index = which === 'newest' ? this.#calls.findLastIndex(isIt) : this.#calls.findIndex(isIt);
    return index === -1 ? undefined : this.#calls.splice(index, 1)[0];
  }
}

function mortalClock(clock: Clock, armed: Set<TimerHandle>, isAlive: () => boolean): Clock {
  return {
    now: () => clock.now(),
    steadyNow: () => clock.steadyNow(),
    setTimeout: (callback, delayMs) => {
      const handle = clock.setTimeout(() => {
        armed.delete(handle);
        if (isAlive()) callback();
      }, delayMs);
      armed.add(handle);
      return handle;
    },
    clearTimeout: (handle) => {
      if (handle !== undefined) armed.delete(handle);
      clock.clearTimeout(handle);
    },
  };
}
