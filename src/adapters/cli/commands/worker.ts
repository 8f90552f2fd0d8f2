/** `wakechart worker`: wakes the sessions that have something to do, until it is told to stop. */
import type { SessionWorker } from '../../../actors/session/session-worker.ts';
import type { SessionWorkerEvent, SessionWorkerSummary } from '../../../actors/session/session-worker-types.ts';
import { agentId } from '../../../machines/ids.ts';
import type { NodeRuntime } from '../../../node.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { withRuntime } from '../open-runtime.ts';
import { posturesOf } from '../posture.ts';
import type { Posture } from '../posture.ts';
import { Progress } from '../progress.ts';
import { counted } from '../text.ts';
import { usageError } from '../usage.ts';
import { WorkerView } from '../worker-view.ts';

/** Commands that run at the same time, however few wakes do. */
const MIN_CONCURRENT_TASKS = 4;

export interface WorkerCommandOptions {
  readonly concurrency?: number | undefined;
  readonly agent?: string | undefined;
  readonly untilIdle: boolean;
  /** Whether somebody can be asked. */
  readonly human: boolean;
}

export async function runWorker(context: CommandContext, { concurrency, agent, untilIdle, human }: WorkerCommandOptions): Promise<number> {
  if (agent !== undefined && !agentId.safeParse(agent).success) {
    throw usageError(`expected the name of an agent, received ${JSON.stringify(agent)}`, 'Names are lower-case letters, digits, "-" and "_".');
  }
  const work = async (runtime: NodeRuntime): Promise<number> => {
    if (agent !== undefined) await runtime.agents.get(agent);
    // One that ends when nothing is due would leave before the next slot of any schedule.
    if (!untilIdle) await runtime.startSchedules();
    const worker = runtime.startWorker({ concurrency, agentId: agent, untilIdle });
    const summary = await followed(worker, runtime, context);
    await tellEnd(summary, context);
    return summary.counts.failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  };
  // A wake that runs must not wait for the commands of another.
  return withRuntime(context, work, { maxConcurrentTasks: Math.max(MIN_CONCURRENT_TASKS, concurrency ?? 0), humans: human ? 'reachable' : 'none' });
}

/** Tells what the worker does until it has ended; the first signal lets it come to an end, the second one stops it. */
async function followed(worker: SessionWorker, runtime: NodeRuntime, { out, err, json, home, interruption }: CommandContext): Promise<SessionWorkerSummary> {
  const progress = new Progress(err);
  const view = new WorkerView({ out, progress });
  const tell = async (event: SessionWorkerEvent): Promise<void> => {
    const posture = event.type === 'woke' ? await postureOf(event.sessionId, runtime, home) : undefined;
    return json ? out.record(posture === undefined ? event : { ...event, posture }) : view.show(event, posture);
  };
  // One after the other, in the order in which they came, though something is looked up for some of them.
  let told: Promise<void> = Promise.resolve();
  const subscription = worker.events$.subscribe((event) => void (told = told.then(() => tell(event)).catch(() => undefined)));
  let giveUp: (() => void) | undefined;
  const forced = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  const release = interruption.guard(() => {
    giveUp?.();
    void worker.stop({ running: 'abort', reason: 'the worker was interrupted twice' }).catch(() => undefined);
  });
  let drained: Promise<unknown> | undefined;
  const drain = (): void => {
    const inHand = inHandOf(worker, runtime);
    // Wakes and commands share the time that they may take.
    drained = runtime.stopSchedules().catch(() => undefined);
    void worker.stop({ reason: 'the worker was interrupted' }).catch(() => undefined);
    if (inHand !== '') void err.push(`${err.styles.yellow('note:')} waits for ${inHand} to end; interrupt again to stop at once\n`);
  };
  interruption.signal.addEventListener('abort', drain, { once: true });
  if (interruption.signal.aborted) drain();
  try {
    const summary = await worker.ended;
    // The shutdown that follows ends what is left of commands, and waits no longer than that takes.
    await Promise.race([drained, forced]);
    await told;
    return summary;
  } finally {
    interruption.signal.removeEventListener('abort', drain);
    subscription.unsubscribe();
    progress.stop();
    release();
  }
}

/** As the files say now; undefined for a session that is gone. */
async function postureOf(sessionId: string, { sessions, agents }: NodeRuntime, home: string): Promise<Posture | undefined> {
  try {
    return await posturesOf({ home, agents }).ofSession(await sessions.status(sessionId));
  } catch {
    return undefined;
  }
}

/** The wakes and the commands of schedules that run, in words. */
function inHandOf(worker: SessionWorker, { tasks }: NodeRuntime): string {
  const wakes = worker.status().running.length;
  const commands = tasks.list({ kind: 'process', status: ['queued', 'running'] }).filter(({ metadata }) => metadata?.['schedule'] !== undefined).length;
  return [wakes > 0 ? counted(wakes, 'wake') : '', commands > 0 ? counted(commands, 'command') : ''].filter((words) => words !== '').join(' and ');
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
