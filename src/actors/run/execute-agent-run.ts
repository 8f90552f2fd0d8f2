/**
 * Runs an agent over its candidates: accounts within a model, models after one another, each decision told with its
 * reason.
 */
import { createActor, fromPromise, toPromise } from 'xstate';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { modelChoice } from '../../machines/run/candidate.ts';
import { runMachine } from '../../machines/run/run-machine.ts';
import type { RunInput } from '../../machines/run/run-machine.ts';
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

interface LiveRun {
  readonly work: RunWork;
  /** What broke first, apart from what the backends broke. */
  defect: unknown;
}

/** By the id in the chart: one provided chart serves all runs, since to provide one costs more than to run it. */
const live = new Map<string, LiveRun>();

const logic = runMachine.provide({
  actors: {
    select: part((work) => work.select()),
    attempt: part((work) => work.attempt()),
    moveOn: part((work) => work.moveOn()),
    wait: part((work) => work.wait()),
    compact: part((work) => work.compact()),
  },
  actions: {
    interrupt: ({ context }, reason) => live.get(context.runId)?.work.interrupt(reason),
    noteDefect({ context, event }) {
      const run = live.get(context.runId);
      if (run !== undefined)
        run.defect ??=
          'error' in event
            ? event.error
            : new RuntimeError('RUN_CRASHED', 'a part of the run broke', { category: 'crash' });
    },
  },
});

function part<Answer>(take: (work: RunWork) => Promise<Answer>): ReturnType<typeof fromPromise<Answer, RunInput>> {
  return fromPromise<Answer, RunInput>(async ({ input }) => {
    const run = live.get(input.runId);
    if (run === undefined)
      throw new RuntimeError('RUN_UNKNOWN', `run ${input.runId} does not run here`, { category: 'crash' });
    return take(run.work);
  });
}

async function drive(
  work: RunWork,
  { request: { runId: given }, signal, parent }: ExecuteAgentRunOptions,
): Promise<AgentRunResult> {
  const runId = freeId(given);
  const run: LiveRun = { work, defect: undefined };
  live.set(runId, run);
  const actor = createActor(logic, {
    input: { runId },
    id: `run_${runId}`,
    ...(parent === undefined ? {} : { parent }),
  });
  const stop = (): void => {
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'STOP', reason: messageOf(signal?.reason) });
  };
  const ended = toPromise(actor);
  try {
    actor.start();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
    await ended;
  } catch (error) {
    run.defect ??= error;
  } finally {
    signal?.removeEventListener('abort', stop);
    live.delete(runId);
  }
  return work.finish(run.defect);
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
