/** `wakechart worker`: wakes the sessions that have something to do, until it is told to stop. */
import { hostname } from 'node:os';
import type { SessionWorker } from '../../actors/session/session-worker.ts';
import type { SessionWorkerEvent, SessionWorkerSummary } from '../../actors/session/session-worker-types.ts';
import { agentId } from '../../machines/ids.ts';
import type { StoreNews } from '../../actors/session/store-watch.ts';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import { storeText } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import type { InspectionWords } from '../inspect/words.ts';
import { openInspection } from '../inspect/inspection.ts';
import { withRuntime } from '../open/runtime.ts';
import { isolationsOf } from '../isolation.ts';
import type { Isolation } from '../isolation.ts';
import { FactLog } from '../terminal/fact-log.ts';
import type { LogFormat, LogLevel } from '../terminal/fact-log.ts';
import { Progress } from '../terminal/progress.ts';
import { usageError } from '../usage.ts';
import { summaryFact } from './facts.ts';
import type { ListenAddress } from './listening.ts';
import { WorkerView, isLeft, leftToOthers, secondsText, workText, cutOffWakes, workerEnding } from './view.ts';
import type { CutOff } from './view.ts';

/** How long what runs may go on after the first signal, in milliseconds: wakes and commands share that time. */
const DRAIN_LIMIT_MS = 30_000;

/** Commands that run at the same time, however few wakes do. */
const MIN_CONCURRENT_TASKS = 4;

export interface LogWords {
  readonly log?: LogFormat;
  readonly logLevel?: LogLevel;
}

export interface WorkerCommandOptions extends LogWords {
  /** Where scrapers and probes are answered. */
  readonly listen?: ListenAddress | undefined;
  readonly concurrency?: number | undefined;
  readonly agent?: string | undefined;
  readonly untilIdle: boolean;
  /** Whether a person can be asked. */
  readonly human: boolean;
  readonly inspection: InspectionWords;
}

export async function runWorker(
  context: CommandContext,
  { concurrency, agent, untilIdle, human, inspection, listen, ...words }: WorkerCommandOptions,
): Promise<number> {
  const log = logOf(context, words);
  if (agent !== undefined && !agentId.safeParse(agent).success) {
    throw usageError(
      `expected the name of an agent, received ${JSON.stringify(agent)}`,
      'Names are lower-case letters, digits, "-" and "_".',
    );
  }
  const work = async (runtime: NodeRuntime): Promise<number> => {
    if (agent !== undefined) await runtime.agents.get(agent);
    await openInspection(context, { words: inspection, inspected: runtime, title: 'wakechart worker' });
    const unlisten = await answering(runtime, listen, log);
    // One that ends when nothing is due would leave before the next slot of any schedule.
    if (!untilIdle) await runtime.startSchedules();
    await log.tell({
      ...{ level: 'debug', event: 'worker.started', message: 'the worker begins' },
      fields: { pid: process.pid, host: hostname(), store: storeText(context), agent, concurrency },
    });
    const worker = runtime.startWorker({ concurrency, agentId: agent, untilIdle, drainLimitMs: DRAIN_LIMIT_MS });
    try {
      const { summary, cut } = await followed(worker, { runtime, context, log });
      await tellEnd(summary, cut, { context, log });
      return summary.counts.failed > 0 || leftToOthers(summary) > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    } finally {
      await unlisten();
    }
  };
  // A wake that runs must not wait for the commands of another.
  return withRuntime(context, work, {
    maxConcurrentTasks: Math.max(MIN_CONCURRENT_TASKS, concurrency ?? 0),
    humans: human ? 'reachable' : 'none',
    onStoreNews: (news) => tellStore(context, log, news),
    // What it lacks is told with its sessions.
    note: (text, error) => isLeft(error) || log.note(text),
  });
}

function logOf({ out, err, json }: CommandContext, { log, logLevel }: LogWords): FactLog {
  if (json && log !== undefined)
    throw usageError(
      'expected --log or --json, received both',
      '--json writes records for a program that runs this one; --log json lines for what gathers logs.',
    );
  return new FactLog({ out, err, format: log ?? 'text', level: logLevel ?? 'info' });
}

/** Before the worker begins and until it has ended, so that probes see both. @returns what ends it */
async function answering(
  runtime: NodeRuntime,
  listen: ListenAddress | undefined,
  log: FactLog,
): Promise<() => Promise<void>> {
  if (listen === undefined) return async () => undefined;
  const { createHealthHandler } = await import('../../adapters/health/health-handler.ts');
  const { serveHealth } = await import('../../adapters/health/health-server.ts');
  const server = await serveHealth({ ...listen, handler: createHealthHandler(runtime) });
  log.note(`answers ${server.origin}/healthz, /readyz and /metrics`, { event: 'worker.listening', level: 'info' });
  return () => server.close();
}

/** Work that runs goes on meanwhile, as far as it needs nothing stored. */
function tellStore({ store, home }: CommandContext, log: FactLog, { answers, silentMs }: StoreNews): void {
  const where = store?.shown ?? home;
  const text = answers
    ? `${where} answers again, after ${secondsText(silentMs)}`
    : `${where} has not answered for ${secondsText(silentMs)}; the worker goes on when it does`;
  log.note(text, answers ? { event: 'store.answers', level: 'info' } : { event: 'store.silent' });
}

interface Following {
  readonly runtime: NodeRuntime;
  readonly context: CommandContext;
  readonly log: FactLog;
}

interface Followed {
  readonly summary: SessionWorkerSummary;
  readonly cut: CutOff;
}

/** Tells what the worker does until it has ended; the first signal lets it come to an end, the second one stops it. */
async function followed(worker: SessionWorker, { runtime, log, context }: Following): Promise<Followed> {
  const { out, err, json, interruption } = context;
  const progress = new Progress(err);
  const view = new WorkerView({ out, log, progress });
  const tell = async (event: SessionWorkerEvent): Promise<void> => {
    const isolation = event.type === 'woke' ? await isolationOf(event.sessionId, runtime, context) : undefined;
    return json ? out.record(isolation === undefined ? event : { ...event, isolation }) : view.show(event, isolation);
  };
  // One after the other, in the order in which they came, though something is looked up for some of them.
  let told: Promise<void> = Promise.resolve();
  const subscription = worker.events$.subscribe(
    (event) => void (told = told.then(() => tell(event)).catch(() => undefined)),
  );
  let giveUp: (() => void) | undefined;
  const forced = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  let isByRequest = false;
  const release = interruption.guard(() => {
    isByRequest = true;
    giveUp?.();
    void worker.stop({ running: 'abort', reason: 'the worker was interrupted twice' }).catch(() => undefined);
  });
  let drained: Promise<unknown> | undefined;
  const drain = (): void => {
    const inHand = inHandOf(worker, runtime);
    // Wakes and commands share the time that they may take.
    drained = runtime.stopSchedules({ drainLimitMs: DRAIN_LIMIT_MS }).catch(() => undefined);
    void worker.stop({ reason: 'the worker was interrupted' }).catch(() => undefined);
    if (inHand !== '')
      log.note(`waits up to ${secondsText(DRAIN_LIMIT_MS)} for ${inHand} to end; interrupt again to stop at once`, {
        event: 'worker.draining',
        level: 'info',
      });
  };
  interruption.signal.addEventListener('abort', drain, { once: true });
  if (interruption.signal.aborted) drain();
  try {
    const summary = await worker.ended;
    // The shutdown that follows ends what is left of commands, and waits no longer than that takes.
    await Promise.race([drained, forced]);
    await told;
    // What still runs is ended by the shutdown.
    return { summary, cut: { commands: commandsInHand(runtime), afterMs: isByRequest ? undefined : DRAIN_LIMIT_MS } };
  } finally {
    interruption.signal.removeEventListener('abort', drain);
    subscription.unsubscribe();
    progress.stop();
    release();
  }
}

/** As the files say now; undefined for a session that is gone. */
async function isolationOf(
  sessionId: string,
  { sessions, agents }: NodeRuntime,
  context: CommandContext,
): Promise<Isolation | undefined> {
  try {
    return await isolationsOf(context, agents).ofSession(await sessions.status(sessionId));
  } catch {
    return undefined;
  }
}

/** The wakes and the commands of schedules that run, in words. */
function inHandOf(worker: SessionWorker, runtime: NodeRuntime): string {
  return workText({ wakes: worker.status().running.length, commands: commandsInHand(runtime) });
}

function commandsInHand({ tasks }: NodeRuntime): number {
  return tasks
    .list({ kind: 'process', status: ['queued', 'running'] })
    .filter(({ metadata }) => metadata?.['schedule'] !== undefined).length;
}

async function tellEnd(
  summary: SessionWorkerSummary,
  cut: CutOff,
  { context: { out, json }, log }: Omit<Following, 'runtime'>,
): Promise<void> {
  if (json) return out.record({ summary, cutOff: { wakes: cutOffWakes(summary), commands: cut.commands } });
  await log.tell({
    ...{ level: 'info', event: 'worker.ended', message: workerEnding(summary, cut) },
    fields: { ...summaryFact(summary), cut_off_commands: cut.commands },
  });
}
