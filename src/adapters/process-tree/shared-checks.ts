/**
 * Lets all callers that want to check the system at the same time share one check. Each asker gets one that began after
 * it asked, since an older one may lack what it searches for; a thousand trees that end together cost a few checks, not
 * thousands.
 */
import type { ProcessSnapshot, ProcessTable, TableRequest } from './process-table.ts';

interface Asker {
  readonly request: TableRequest;
  readonly resolve: (snapshot: ProcessSnapshot) => void;
  readonly reject: (reason: unknown) => void;
}

export class SharedChecks {
  readonly #table: ProcessTable;
  #waiting: Asker[] = [];
  #isChecking = false;

  constructor(table: ProcessTable) {
    this.#table = table;
  }

  check(request: TableRequest): Promise<ProcessSnapshot> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      if (!this.#isChecking) void this.#findAll();
    });
  }

  async #findAll(): Promise<void> {
    this.#isChecking = true;
    // A caller that asks in this turn of the event loop comes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const askers = this.#waiting;
      this.#waiting = [];
      try {
        const snapshot = await this.#table.read(combined(askers.map(({ request }) => request)));
        for (const { resolve } of askers) resolve(snapshot);
      } catch (error) {
        for (const { reject } of askers) reject(error);
      }
    }
    this.#isChecking = false;
  }
}

function combined(requests: readonly TableRequest[]): TableRequest {
  const listeners = requests.flatMap(({ onEntry }) => onEntry ?? []);
  return {
    startedSince: requests.reduce((oldest, { startedSince }) => Math.min(oldest, startedSince), Infinity),
    onEntry: listeners.length === 0 ? undefined : (entry) => listeners.forEach((listener) => listener(entry)),
  };
}
