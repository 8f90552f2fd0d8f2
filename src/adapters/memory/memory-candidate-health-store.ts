/** How candidates stand, remembered for as long as the process lives. */
import type { Clock } from '../../actors/clock/clock.ts';
import type { CandidateHealthStore } from '../../actors/run/candidate-health-store.ts';
import type { ReportedAttempt } from '../../machines/run/breaker.ts';
import type { Candidate } from '../../machines/run/candidate.ts';
import type { CandidateHealth } from '../../machines/run/candidate-health.ts';
import {
  admitCandidate,
  listHealth,
  readHealth,
  reportOutcome,
  resetHealth,
  healthTable,
} from '../../machines/run/health-table.ts';
import type {
  CandidateAdmission,
  HealthFilter,
  HealthReport,
  HealthTable,
  TableChange,
} from '../../machines/run/health-table.ts';

export interface MemoryCandidateHealthStoreOptions {
  readonly clock: Pick<Clock, 'now'>;
}

export class MemoryCandidateHealthStore implements CandidateHealthStore {
  readonly #clock: Pick<Clock, 'now'>;
  #table: HealthTable = healthTable([]);

  constructor({ clock }: MemoryCandidateHealthStoreOptions) {
    this.#clock = clock;
  }

  async read(candidates: readonly Candidate[]): Promise<readonly CandidateHealth[]> {
    return readHealth(this.#table, candidates, this.#clock.now());
  }

  async admit(
    candidate: Candidate,
    { isPinned = false }: { readonly isPinned?: boolean | undefined } = {},
  ): Promise<CandidateAdmission> {
    return this.#keep(admitCandidate(this.#table, candidate, { nowMs: this.#clock.now(), isPinned }));
  }

  async report(candidate: Candidate, outcome: HealthReport, attempt?: ReportedAttempt): Promise<CandidateHealth> {
    return this.#keep(reportOutcome(this.#table, candidate, outcome, { nowMs: this.#clock.now(), attempt }));
  }

  async reset(filter?: HealthFilter): Promise<number> {
    return this.#keep(resetHealth(this.#table, filter));
  }

  async list(): Promise<readonly CandidateHealth[]> {
    return listHealth(this.#table, this.#clock.now());
  }

  #keep<Answer>({ answer, table }: TableChange<Answer>): Answer {
    this.#table = table;
    return answer;
  }
}
