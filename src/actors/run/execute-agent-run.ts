/** Runs an agent over its candidates: accounts within a model, models after one another, each decision told with its reason. */
import { createActor, fromPromise, toPromise } from 'xstate';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { modelChoice } from '../../machines/run/candidate.ts';
import { runMachine } from '../../machines/run/run-machine.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { AgentRunResult } from './agent-runtime.ts';
import { eventsOf } from './start-agent-run.ts';
import type { AgentRun } from './start-agent-run.ts';
import type { ExecuteAgentRunOptions } from './run-options.ts';
import { RunWork } from './run-work.ts';

/**
 * Starts at once. The result never rejects: whatever goes wrong is `meta.error`, and `meta.attempts` says what was tried. The events are one
 * `start`, then those of the attempts, then one `end`, `error` or `aborted`.
 * @throws RuntimeError RUN_OPTIONS_INVALID
 */
export function executeAgentRun(options: ExecuteAgentRunOptions): AgentRun {
  checkOptions(options);
  const { request, onEvent, onListenerError } = options;
  const stream = eventsOf({ onEvent, onListenerError });
  const work = new RunWork({ ...options, onEvent: stream.onEvent });
  const result = drive(work, options).finally(() => stream.complete());
  return { runId: request.runId, result, events$: stream.events$, [Symbol.asyncIterator]: stream.iterate };
}

async function drive(work: RunWork, { request: { runId }, signal, parent }: ExecuteAgentRunOptions): Promise<AgentRunResult> {
  let defect: unknown;
  const logic = runMachine.provide({
    actors: {
      select: fromPromise(() => work.select()),
      attempt: fromPromise(() => work.attempt()),
      moveOn: fromPromise(() => work.moveOn()),
      wait: fromPromise(() => work.wait()),
      compact: fromPromise(() => work.compact()),
    },
    actions: {
      interrupt: (_, reason) => work.interrupt(reason),
      noteDefect: ({ event }) => {
        defect ??= 'error' in event ? event.error : new RuntimeError('RUN_CRASHED', 'a part of the run broke', { category: 'crash' });
      },
    },
  });
  const actor = createActor(logic, { input: { runId }, id: `run_${runId}`, ...(parent === undefined ? {} : { parent }) });
  const stop = (): void => {
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'STOP', reason: messageOf(signal?.reason) });
  };
  const ended = toPromise(actor);
  actor.start();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    await ended;
  } catch (error) {
    defect ??= error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  return work.finish(defect);
}

function checkOptions({ models, request }: ExecuteAgentRunOptions): void {
  if (models.length === 0) throw new RuntimeError('RUN_OPTIONS_INVALID', 'expected at least one model to run', { category: 'validation', hint: 'Give the models in the order in which they are to be tried.' });
  if (typeof request.runId !== 'string' || request.runId === '') throw new RuntimeError('RUN_OPTIONS_INVALID', 'expected an id for the run', { category: 'validation' });
  for (const choice of models) parseOrThrow(modelChoice, choice, { what: 'model of a run', code: 'RUN_OPTIONS_INVALID' });
}
