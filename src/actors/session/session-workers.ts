/** The workers of one runtime: started on demand, ended with it. */
import { RuntimeError } from '../../machines/errors.ts';
import { createSessionWorker } from './session-worker.ts';
import type { SessionWorker } from './session-worker.ts';
import type { SessionWorkerOptions, SessionWorkerPorts } from './session-worker-types.ts';

export class SessionWorkers {
  readonly #ports: SessionWorkerPorts;
  readonly #live = new Set<SessionWorker>();
  #endReason: string | undefined;

  constructor(ports: SessionWorkerPorts) {
    this.#ports = ports;
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
    this.#live.add(worker);
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
