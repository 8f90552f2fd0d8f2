/** Starts a run and offers its events two ways: as a stream, and as an async iterator over the same events. */
import { ReplaySubject } from 'rxjs';
import type { Observable } from 'rxjs';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { classifyRunFailure } from '../../machines/run/classify-failure.ts';
import { agentRunResult } from '../../machines/run/run-output.ts';
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import { describeIssues } from '../../machines/validate.ts';
import { SafeObservable } from '../streams/safe-observable.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from './agent-runtime.ts';

export interface AgentRun extends AsyncIterable<AgentRunEvent> {
  readonly runId: string;
  /** Never rejects: a backend that throws, or resolves with what is no result, has failed with the kind `unknown`. */
  readonly result: Promise<AgentRunResult>;
  /** From the first event on, whenever one subscribes; completes with the run. */
  readonly events$: Observable<AgentRunEvent>;
}

export interface StartAgentRunOptions {
  readonly onListenerError: OnListenerError;
}

export function startAgentRun(
  runtime: AgentRuntime,
  params: AgentRunParams,
  { onListenerError }: StartAgentRunOptions,
): AgentRun {
  const stream = eventsOf({ onEvent: params.onEvent, onListenerError });
  const result = runSafely(runtime, { ...params, onEvent: stream.onEvent }).finally(() => stream.complete());
  return { runId: params.runId, result, events$: stream.events$, [Symbol.asyncIterator]: stream.iterate };
}

interface RunStream {
  readonly onEvent: (event: AgentRunEvent) => void;
  readonly events$: Observable<AgentRunEvent>;
  readonly iterate: () => AsyncGenerator<AgentRunEvent, void, undefined>;
  readonly complete: () => void;
}

/** One stream of a run's events, for a listener, for subscribers and for iterators. None of them can hurt the run. */
export function eventsOf({
  onEvent,
  onListenerError,
}: {
  readonly onEvent: ((event: AgentRunEvent) => void) | undefined;
  readonly onListenerError: OnListenerError;
}): RunStream {
  const subject = new ReplaySubject<AgentRunEvent>();
  const events$ = new SafeObservable<AgentRunEvent>(onListenerError, (subscriber) => subject.subscribe(subscriber));
  return {
    events$,
    iterate: () => iterate(events$),
    complete: () => subject.complete(),
    onEvent(event) {
      subject.next(event);
      try {
        onEvent?.(event);
      } catch (error) {
        onListenerError(error, 'listener');
      }
    },
  };
}

/**
 * Never rejects. A backend that throws a defect, or resolves with what is no result, has failed with the kind
 * `unknown`; one that throws an error of ours, such as a lock that another process holds, with what that says.
 */
export async function runSafely(runtime: AgentRuntime, params: AgentRunParams): Promise<AgentRunResult> {
  try {
    const reading = agentRunResult.safeParse(await runtime.run(params));
    return reading.success
      ? reading.data
      : defective(runtime, `returned what is no result of a run: ${describeIssues(reading.error).join('; ')}`);
  } catch (error) {
    if (RuntimeError.is(error)) return { payloads: [], meta: { error: classifyRunFailure(error), modelSteps: 0 } };
    return defective(runtime, `threw: ${messageOf(error)}`);
  }
}

/** The kind `unknown` disables no model: it is the backend that is wrong. */
function defective({ id }: AgentRuntime, what: string): AgentRunResult {
  return { payloads: [], meta: { error: { kind: 'unknown', message: `the backend "${id}" ${what}` }, modelSteps: 0 } };
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
