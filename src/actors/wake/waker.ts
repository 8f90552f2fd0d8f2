/**
 * Runs wakes: each one is an actor of the wake chart, a child of the task supervisor, and is known here while it lives.
 */
import { createActor, fromPromise, toPromise } from 'xstate';
import type { ActorRefFrom, AnyActorRef } from 'xstate';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { checkSessionId } from '../../machines/session/session-requests.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { wakeMachineFor } from '../../machines/wake/wake-machine.ts';
import type { WakeInput } from '../../machines/wake/wake-machine.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { WakeElsewhere, WakeOptions, WakePorts } from './wake-ports.ts';
import { WakeWork } from './wake-work.ts';
import type { WakeModelStep } from './wake-work.ts';

const wakeMachine = wakeMachineFor<WakeModelStep>();

interface LiveWake {
  readonly work: WakeWork;
  readonly actor: ActorRefFrom<typeof wakeMachine>;
}

interface Passes {
  readonly current: Promise<WakeOutcome>;
  /** The current one waits for another process's wake to end: a caller that asks meanwhile is served by it. */
  isWaiting: boolean;
  /** Begins when the current one has ended. */
  next: Promise<WakeOutcome> | undefined;
}

export interface WakerOptions extends WakePorts {
  /** Parent of every wake actor, so that all of them are seen in one system. */
  readonly supervisor: AnyActorRef;
}

export class Waker {
  readonly #options: WakerOptions;
  /** By wake id: one provided chart serves all wakes. */
  readonly #live = new Map<string, LiveWake>();
  readonly #logic: typeof wakeMachine;
  /** By session id: the pass that was asked for while another one runs. */
  readonly #passes = new Map<string, Passes>();
  /** Wakes that run in processes of their own. */
  readonly #away = new Set<Promise<void>>();
  /** Aborted with the reason of the shutdown. */
  readonly #ending = new AbortController();

  constructor(options: WakerOptions) {
    this.#options = options;
    const part = <Answer, Input extends WakeInput>(
      work: (wake: LiveWake, input: Input) => Promise<Answer>,
    ): ReturnType<typeof fromPromise<Answer, Input>> =>
      fromPromise<Answer, Input>(({ input }) => work(this.#wakeOf(input.wakeId), input));
    this.#logic = wakeMachine.provide({
      actors: {
        claim: part(({ work, actor }) => work.claim(actor)),
        fold: part(({ work }, input) => work.fold(input)),
        assemble: part(({ work }) => work.assemble()),
        step: part(({ work, actor }, input) => work.step(input, actor)),
        callTools: part(({ work, actor }, input) => work.callTools(input, actor)),
        commit: part(({ work }, input) => work.commit(input)),
        recordFailure: part(({ work }, input) => work.recordFailure(input)),
        release: part(({ work }, input) => work.release(input)),
      },
      actions: {
        interrupt: ({ context }, reason: string) => this.#live.get(context.wakeId)?.work.interrupt(reason),
      },
    });
  }

  /** How many wakes run in this process. */
  get size(): number {
    return this.#live.size;
  }

  /**
   * One wake of a session, to its end.
   * @throws RuntimeError WAKE_CONFLICT while another wake of it runs; SESSION_TERMINATED; SESSION_NOT_FOUND;
   * RUNTIME_SHUT_DOWN; STORAGE_FAILED
   */
  async wake(sessionId: string, options: WakeOptions = {}): Promise<WakeOutcome> {
    const id = checkSessionId(sessionId);
    this.#assertAccepting();
    const { state } = await this.#options.journals.open(id, options.opening);
    this.#assertAccepting();
    const { elsewhere } = this.#options;
    if (
      state.runsIn === 'process' &&
      elsewhere !== undefined &&
      options.isHere !== true &&
      state.status !== 'terminated'
    )
      return this.#wakeElsewhere(elsewhere, state, options);
    const wakeId = this.#options.ids.next();
    const work = new WakeWork(state, wakeId, this.#options, options);
    const actor = createActor(this.#logic, {
      input: { sessionId: id, wakeId },
      id: `wake_${wakeId}`,
      parent: this.#options.supervisor,
    });
    const { signal } = options;
    const stop = (): void => stopActor(actor, messageOf(signal?.reason));
    const ended = toPromise(actor);
    this.#live.set(wakeId, { work, actor });
    try {
      actor.start();
      signal?.addEventListener('abort', stop, { once: true });
      if (signal?.aborted === true) stop();
      const output = await ended;
      if (!output.isRecorded) throw output.error;
      return Object.freeze(work.outcome(output));
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#live.delete(wakeId);
    }
  }

  /** Ends with this process: a caller that shuts down waits for it too. */
  async #wakeElsewhere(elsewhere: WakeElsewhere, state: SessionState, options: WakeOptions): Promise<WakeOutcome> {
    const signal = this.#endOf(options);
    const wake = elsewhere.wake(state, { ...options, signal });
    const ended = wake.then(
      () => undefined,
      () => undefined,
    );
    this.#away.add(ended);
    try {
      return await wake;
    } finally {
      this.#away.delete(ended);
    }
  }

  /**
   * A wake that begins after this call. While one runs it is followed by exactly one more, however often this is
   * called; one that runs in another process is waited for.
   * @throws what `wake` throws, but WAKE_CONFLICT
   */
  trigger(sessionId: string, options: WakeOptions = {}): Promise<WakeOutcome> {
    const passes = this.#passes.get(sessionId);
    if (passes?.isWaiting === true) return passes.current;
    if (passes !== undefined)
      return (passes.next ??= passes.current.then(
        () => this.#pass(sessionId, options),
        () => this.#pass(sessionId, options),
      ));
    return this.#pass(sessionId, options);
  }

  #pass(sessionId: string, options: WakeOptions): Promise<WakeOutcome> {
    const current = this.#wakeWhenFree(sessionId, options, (isWaiting) => {
      passes.isWaiting = isWaiting;
    });
    const passes: Passes = { current, isWaiting: false, next: undefined };
    this.#passes.set(sessionId, passes);
    const forget = (): void => {
      if (passes.next === undefined && this.#passes.get(sessionId) === passes) this.#passes.delete(sessionId);
    };
    current.then(forget, forget);
    return current;
  }

  async #wakeWhenFree(
    sessionId: string,
    options: WakeOptions,
    onWaiting: (isWaiting: boolean) => void,
  ): Promise<WakeOutcome> {
    for (;;) {
      try {
        return await this.wake(sessionId, options);
      } catch (error) {
        if (!RuntimeError.is(error) || error.code !== 'WAKE_CONFLICT') throw error;
        const signal = this.#endOf(options);
        if (signal.aborted) throw error;
        onWaiting(true);
        await this.#options.store.wakeRightFreed(sessionId, signal);
        onWaiting(false);
      }
    }
  }

  /** Of the caller's patience or of this waker. */
  #endOf({ signal }: WakeOptions): AbortSignal {
    return AbortSignal.any([this.#ending.signal, ...(signal === undefined ? [] : [signal])]);
  }

  /** Takes no more wakes, stops those that run, and resolves when they have ended. Idempotent. */
  async shutdown(reason: string): Promise<void> {
    this.#ending.abort(reason);
    const live = [...this.#live.values()];
    for (const { actor } of live) stopActor(actor, reason);
    await Promise.allSettled([...live.map(({ actor }) => toPromise(actor)), ...this.#away]);
  }

  #assertAccepting(): void {
    const { signal } = this.#ending;
    if (!signal.aborted) return;
    const stopReason = messageOf(signal.reason);
    throw new RuntimeError('RUNTIME_SHUT_DOWN', `the runtime is shut down and wakes no session (${stopReason})`, {
      category: 'conflict',
      hint: 'Open a new runtime.',
    });
  }

  #wakeOf(wakeId: string): LiveWake {
    const wake = this.#live.get(wakeId);
    if (wake !== undefined) return wake;
    throw new RuntimeError('WAKE_UNKNOWN', `wake ${wakeId} does not run here`, { category: 'crash' });
  }
}

/** XState complains on the console about events to an actor that has ended. */
function stopActor(actor: LiveWake['actor'], reason: string): void {
  if (actor.getSnapshot().status === 'active') actor.send({ type: 'STOP', reason });
}
