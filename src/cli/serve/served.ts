/** What all servers of protocols have in common: a runtime, a worker of its own, and an end when the client has gone. */
import type { SessionWorker } from '../../actors/session/session-worker.ts';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { withRuntime } from '../open/runtime.ts';
import { printable } from '../terminal/text.ts';

/**
 * How long wakes may go on when the client has gone, in milliseconds: clients kill what takes much longer. What is cut
 * short goes on with the next worker.
 */
const DRAIN_LIMIT_MS = 1_000;

export interface ServeWords {
  readonly worker: boolean;
}

export interface Service {
  /** Resolves when nothing is to be served any more. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Standard output belongs to the protocol; whatever is to be told goes to standard error. */
export async function serve(
  context: CommandContext,
  { worker: hasWorker }: ServeWords,
  open: (runtime: NodeRuntime, onTrouble: (error: unknown) => void) => Promise<Service>,
): Promise<number> {
  const { err, interruption } = context;
  // Also what tools and backends of others say on the console.
  console.log = console.info = console.debug = console.error;
  const onTrouble = (error: unknown): void =>
    void err.push(
      `${err.styles.yellow('note:')} ${printable(error instanceof Error ? error.message : String(error))}\n`,
    );
  return withRuntime(context, async (runtime) => {
    const service = await open(runtime, onTrouble);
    const worker = hasWorker ? runtime.startWorker({ drainLimitMs: DRAIN_LIMIT_MS }) : undefined;
    const close = (): void => void service.close().catch(onTrouble);
    const release = interruption.guard(() => void worker?.stop({ running: 'abort' }).catch(onTrouble));
    interruption.expectEnd();
    interruption.signal.addEventListener('abort', close, { once: true });
    if (interruption.signal.aborted) close();
    try {
      await service.closed;
      await ended(worker);
      return EXIT_SUCCESS;
    } finally {
      interruption.signal.removeEventListener('abort', close);
      release();
    }
  });
}

async function ended(worker: SessionWorker | undefined): Promise<void> {
  await worker?.stop({ reason: 'the client of its server has gone' });
}
