/** Starts a run and offers its events two ways: as a stream, and as an async iterator over the same events. */
import { ReplaySubject } from 'rxjs';
import type { Observable } from 'rxjs';
import { messageOf } from '../../machines/errors.ts';
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import { SafeObservable } from '../streams/safe-observable.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from './agent-runtime.ts';

export interface AgentRun extends AsyncIterable<AgentRunEvent> {
  readonly runId: string;
  /** Never rejects: a backend that throws has failed with the kind `unknown`. */
  readonly result: Promise<AgentRunResult>;
  /** From the first event on, whenever one subscribes; completes with the run. */
  readonly events$: Observable<AgentRunEvent>;
}

export interface StartAgentRunOptions {
  readonly onListenerError: OnListenerError;
}

export function startAgentRun(runtime: AgentRuntime, params: AgentRunParams, { onListenerError }: StartAgentRunOptions): AgentRun {
  const subject = new ReplaySubject<AgentRunEvent>();
  const onEvent = (event: AgentRunEvent): void => {
    subject.next(event);
    try {
      params.onEvent?.(event);
    } catch (error) {
      onListenerError(error, 'listener');
    }
  };
  const result = runSafely(runtime, { ...params, onEvent }).finally(() => subject.complete());
  const events$ = new SafeObservable<AgentRunEvent>(onListenerError, (subscriber) => subject.subscribe(subscriber));
  return { runId: params.runId, result, events$, [Symbol.asyncIterator]: () => iterate(events$) };
}

async function runSafely(runtime: AgentRuntime, params: AgentRunParams): Promise<AgentRunResult> {
  try {
    return await runtime.run(params);
  } catch (error) {
    return { payloads: [], meta: { error: { kind: 'unknown', message: `the backend "${runtime.id}" threw: ${messageOf(error)}` }, modelSteps: 0 } };
  }
}

async function* iterate(events$: Observable<AgentRunEvent>): AsyncGenerator<AgentRunEvent, void, undefined> {
  const waiting: AgentRunEvent[] = [];
  let hasEnded = false;
  let wakeUp: (() => void) | undefined;
  const nudge = (): void => wakeUp?.();
  const subscription = events$.subscribe({
    next: (event) => {
      waiting.push(event);
      nudge();
    },
    complete: () => {
      hasEnded = true;
      nudge();
    },
  });
  try {
    for (;;) {
      const event = waiting.shift();
      if (event !== undefined) yield event;
      else if (hasEnded) return;
      else
        await new Promise<void>((resolve) => {
          wakeUp = resolve;
        });
    }
  } finally {
    subscription.unsubscribe();
  }
}
