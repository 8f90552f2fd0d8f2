/** How candidates stand, remembered for as long as the process lives. */
import type { Clock } from '../../actors/clock/clock.ts';
import type { CandidateAdmission, CandidateStandings } from '../../actors/run/candidate-standings.ts';
import type { ReportedAttempt } from '../../machines/run/breaker.ts';
import type { Candidate } from '../../machines/run/candidate.ts';
import type { CandidateStanding } from '../../machines/run/candidate-standing.ts';
import {
  admitCandidate,
  listStandings,
  readStandings,
  reportOutcome,
  resetStandings,
  standingTable,
} from '../../machines/run/standing-table.ts';
import type { StandingFilter, StandingReport, StandingTable, TableChange } from '../../machines/run/standing-table.ts';

export interface MemoryCandidateStandingsOptions {
  readonly clock: Pick<Clock, 'now'>;
}

export class MemoryCandidateStandings implements CandidateStandings {
  readonly #clock: Pick<Clock, 'now'>;
  #table: StandingTable = standingTable([]);

  constructor({ clock }: MemoryCandidateStandingsOptions) {
    this.#clock = clock;
  }

  async read(candidates: readonly Candidate[]): Promise<readonly CandidateStanding[]> {
    return readStandings(this.#table, candidates, this.#clock.now());
  }

  async admit(
    candidate: Candidate,
    { isPinned = false }: { readonly isPinned?: boolean | undefined } = {},
  ): Promise<CandidateAdmission> {
    return this.#keep(admitCandidate(this.#table, candidate, { nowMs: this.#clock.now(), isPinned }));
  }

  async report(candidate: Candidate, outcome: StandingReport, attempt?: ReportedAttempt): Promise<CandidateStanding> {
    return this.#keep(reportOutcome(this.#table, candidate, outcome, { nowMs: this.#clock.now(), attempt }));
  }

  async reset(filter?: StandingFilter): Promise<number> {
    return this.#keep(resetStandings(this.#table, filter));
  }

  async list(): Promise<readonly CandidateStanding[]> {
    return listStandings(this.#table, this.#clock.now());
  }

  #keep<Answer>({ answer, table }: TableChange<Answer>): Answer {
    this.#table = table;
    return answer;
  }
}
