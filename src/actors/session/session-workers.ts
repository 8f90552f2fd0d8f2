/** The workers of one runtime: started on demand, ended with it. */
import { RuntimeError } from '../../machines/errors.ts';
import { createSessionWorker } from './session-worker.ts';
import type { SessionWorker } from './session-worker.ts';
import type {
  SessionWorkerEvent,
  SessionWorkerOptions,
  SessionWorkerPorts,
  SessionWorkerStatus,
} from './session-worker-types.ts';

interface SessionWorkersPorts extends SessionWorkerPorts {
  /** Hears what each worker tells. */
  readonly metrics: { hear(event: SessionWorkerEvent): void };
}

export class SessionWorkers {
  readonly #ports: SessionWorkersPorts;
  readonly #live = new Set<SessionWorker>();
  #endReason: string | undefined;
  #wasStarted = false;

  constructor(ports: SessionWorkersPorts) {
    this.#ports = ports;
  }

  /** Of those that run. */
  statuses(): readonly SessionWorkerStatus[] {
    return [...this.#live].map((worker) => worker.status());
  }

  /** Whether one was started and none runs any more. */
  get haveEnded(): boolean {
    return this.#wasStarted && this.#live.size === 0;
  }

  /** @throws RuntimeError WORKER_OPTIONS_INVALID; RUNTIME_SHUT_DOWN */
  start(options?: SessionWorkerOptions): SessionWorker {
    if (this.#endReason !== undefined) {
      throw new RuntimeError(
        'RUNTIME_SHUT_DOWN',
        `the runtime is shut down and starts no worker (${this.#endReason})`,
        { category: 'conflict', hint: 'Open a new runtime.' },
      );
    }
    const worker = createSessionWorker(this.#ports, options);
    this.#wasStarted = true;
    this.#live.add(worker);
    worker.events$.subscribe((event) => this.#ports.metrics.hear(event));
    const forget = (): void => void this.#live.delete(worker);
    worker.ended.then(forget, forget);
    return worker;
  }

  /** Starts no more, stops those that run with their wakes, and resolves when they have ended. */
  async shutdown(reason: string): Promise<void> {
    this.#endReason ??= reason;
    await Promise.allSettled([...this.#live].map((worker) => worker.stop({ running: 'abort', reason })));
  }
}
