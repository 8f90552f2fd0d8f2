/** What is on record of processes, read once for all viewers and all sessions that they check. */
import type { Clock } from '../clock/clock.ts';
import type { ProcessTree, ReconciledProcessTree } from '../task/process-tree.ts';

/** Pages ask every five seconds, each in its own time. */
const KEPT_MS = 3_000;

export class ProcessReports {
  readonly #tree: Pick<ProcessTree, 'reconcile'>;
  readonly #clock: Pick<Clock, 'steadyNow'>;
  #last: { readonly reports: Promise<readonly ReconciledProcessTree[]>; readonly until: number } | undefined;

  constructor(tree: Pick<ProcessTree, 'reconcile'>, clock: Pick<Clock, 'steadyNow'>) {
    this.#tree = tree;
    this.#clock = clock;
  }

  /** As of the last few seconds. */
  read(): Promise<readonly ReconciledProcessTree[]> {
    if (this.#last !== undefined && this.#clock.steadyNow() < this.#last.until) return this.#last.reports;
    const reports = this.#tree.reconcile({ policy: 'report' });
    const last = { reports, until: this.#clock.steadyNow() + KEPT_MS };
    this.#last = last;
    // A failure is told to those who wait, and to none later.
    reports.catch(() => {
      if (this.#last === last) this.#last = undefined;
    });
    return reports;
  }

  /** Something was ended: the next reading is a new one. */
  forget(): void {
    this.#last = undefined;
  }
}
