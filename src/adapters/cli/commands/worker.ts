/** `wakechart worker`: wakes the sessions that have something to do, until it is told to stop. */
import type { SessionWorker } from '../../../actors/session/session-worker.ts';
import type { SessionWorkerSummary } from '../../../actors/session/session-worker-types.ts';
import { agentId } from '../../../machines/ids.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { withRuntime } from '../open-runtime.ts';
import { Progress } from '../progress.ts';
import { counted } from '../text.ts';
import { usageError } from '../usage.ts';
import { WorkerView } from '../worker-view.ts';

export interface WorkerCommandOptions {
  readonly concurrency?: number | undefined;
  readonly agent?: string | undefined;
  readonly untilIdle: boolean;
}

export async function runWorker(context: CommandContext, { concurrency, agent, untilIdle }: WorkerCommandOptions): Promise<number> {
  if (agent !== undefined && !agentId.safeParse(agent).success) {
    throw usageError(`expected the name of an agent, received ${JSON.stringify(agent)}`, 'Names are lower-case letters, digits, "-" and "_".');
  }
  return withRuntime(context, async (runtime) => {
    if (agent !== undefined) await runtime.agents.get(agent);
    // One that ends when nothing is due would leave before the next slot of any schedule.
    if (!untilIdle) await runtime.startSchedules();
    const worker = runtime.startWorker({ concurrency, agentId: agent, untilIdle });
    const summary = await followed(worker, context);
    await tellEnd(summary, context);
    return summary.counts.failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  });
}

/** Tells what the worker does until it has ended; the first signal lets it come to an end, the second one stops it. */
async function followed(worker: SessionWorker, { out, err, json, interruption }: CommandContext): Promise<SessionWorkerSummary> {
  const progress = new Progress(err);
  const view = new WorkerView({ out, progress });
  const subscription = worker.events$.subscribe((event) => void (json ? out.record(event) : view.show(event)));
  const release = interruption.guard(() => void worker.stop({ running: 'abort', reason: 'the worker was interrupted twice' }).catch(() => undefined));
  const drain = (): void => {
    const { running } = worker.status();
    void worker.stop({ reason: 'the worker was interrupted' }).catch(() => undefined);
    if (running.length > 0) void err.push(`${err.styles.yellow('note:')} waits for ${counted(running.length, 'wake')} to end; interrupt again to stop at once\n`);
  };
  interruption.signal.addEventListener('abort', drain, { once: true });
  if (interruption.signal.aborted) drain();
  try {
    return await worker.ended;
  } finally {
    interruption.signal.removeEventListener('abort', drain);
    subscription.unsubscribe();
    progress.stop();
    release();
  }
}

async function tellEnd(summary: SessionWorkerSummary, { out, json }: CommandContext): Promise<void> {
  if (json) return out.record({ summary });
  const { counts, endedBecause, setAside } = summary;
  const left = setAside.length === 0 ? '' : ` ${counted(setAside.length, 'session')} left for later.`;
  await out.line(`${ENDINGS[endedBecause]} ${counted(counts.succeeded, 'wake')} went well, ${counts.failed} failed.${left}`);
}

const ENDINGS = {
  idle: 'Nothing is due.',
  stopped: 'Stopped.',
  forced: 'Stopped at once.',
} as const satisfies Record<SessionWorkerSummary['endedBecause'], string>;
