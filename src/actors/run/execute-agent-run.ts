/**
 * Runs an agent over its candidates: accounts within a model, models after one another, each decision told with its
 * reason.
 */
import { createActor, fromPromise, toPromise } from 'xstate';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { modelChoice } from '../../machines/run/candidate.ts';
import { runMachineFor } from '../../machines/run/run-machine.ts';
import type { RunEnd } from '../../machines/run/run-machine.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { AgentRunResult } from './agent-runtime.ts';
import { eventsOf } from './start-agent-run.ts';
import type { AgentRun } from './start-agent-run.ts';
import type { ExecuteAgentRunOptions } from './run-options.ts';
import { RunWork } from './run-work.ts';

/**
 * Starts at once. The result never rejects: whatever goes wrong is `meta.error`, and `meta.attempts` says what was
 * tried. The events are one `start`, then those of the attempts, then one `end`, `error` or `aborted`.
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

const runMachine = runMachineFor<AgentRunResult>();

/** By the id in the chart: one provided chart serves all runs, since to provide one costs more than to run it. */
const live = new Map<string, RunWork>();

function workOf(runId: string): RunWork {
  const work = live.get(runId);
  if (work !== undefined) return work;
  throw new RuntimeError('RUN_UNKNOWN', `run ${runId} does not run here`, { category: 'crash' });
}

const logic = runMachine.provide({
  actors: {
    select: fromPromise(async ({ input }) => workOf(input.runId).select(input)),
    attempt: fromPromise(async ({ input }) => workOf(input.runId).attempt(input)),
    moveOn: fromPromise(async ({ input }) => workOf(input.runId).moveOn(input)),
    wait: fromPromise(async ({ input }) => workOf(input.runId).wait(input)),
    compact: fromPromise(async ({ input }) => workOf(input.runId).compact(input)),
  },
  actions: { interrupt: ({ context }, reason) => live.get(context.runId)?.interrupt(reason) },
});

async function drive(
  work: RunWork,
  { request: { runId: given }, signal, parent }: ExecuteAgentRunOptions,
): Promise<AgentRunResult> {
  const runId = freeId(given);
  live.set(runId, work);
  const actor = createActor(logic, {
    input: { runId },
    id: `run_${runId}`,
    ...(parent === undefined ? {} : { parent }),
  });
  const stop = (): void => {
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'STOP', reason: messageOf(signal?.reason) });
  };
  const ended = toPromise(actor);
  let broken: RunEnd['defect'];
  try {
    actor.start();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
    await ended;
  } catch (error) {
    broken = { error };
  } finally {
    signal?.removeEventListener('abort', stop);
    live.delete(runId);
  }
  const { course, choice, defect = broken } = actor.getSnapshot().context;
  return work.finish({ course, choice, defect });
}

/** The caller that starts runs names them, and may use a name twice. */
function freeId(given: string): string {
  let id = given;
  for (let copy = 2; live.has(id); copy += 1) id = `${given}#${copy}`;
  return id;
}

function checkOptions({ models, request }: ExecuteAgentRunOptions): void {
  if (models.length === 0)
    throw new RuntimeError('RUN_OPTIONS_INVALID', 'expected at least one model to run', {
      category: 'validation',
      hint: 'Give the models in the order in which they are to be tried.',
    });
  if (typeof request.runId !== 'string' || request.runId === '')
    throw new RuntimeError('RUN_OPTIONS_INVALID', 'expected an id for the run', { category: 'validation' });
  for (const choice of models)
    parseOrThrow(modelChoice, choice, { what: 'model of a run', code: 'RUN_OPTIONS_INVALID' });
}
