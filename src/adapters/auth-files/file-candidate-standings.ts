/**
 * How candidates stand, in `<directory>/standings.json`, shared by processes. It is experience, not truth: damage
 * begins it anew, and says so.
 */
import { resolve } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import type { CandidateAdmission, CandidateStandings } from '../../actors/run/candidate-standings.ts';
import type { ExclusiveWork } from '../../actors/run/exclusive-work.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { ReportedAttempt } from '../../machines/run/breaker.ts';
import type { Candidate } from '../../machines/run/candidate.ts';
import { candidateStanding } from '../../machines/run/candidate-standing.ts';
import type { CandidateStanding } from '../../machines/run/candidate-standing.ts';
import {
  MAX_STANDINGS,
  admitCandidate,
  listStandings,
  readStandings,
  reportOutcome,
  resetStandings,
  standingTable,
} from '../../machines/run/standing-table.ts';
import type { StandingFilter, StandingReport, StandingTable, TableChange } from '../../machines/run/standing-table.ts';
import { STANDINGS } from './auth-errors.ts';
import { KeptValue } from './kept-value.ts';

const content = z.strictObject({ standings: z.array(candidateStanding.strict()).max(MAX_STANDINGS) });

export interface FileCandidateStandingsOptions {
  /** The folder of accounts in a home; made with the first change. No agent may reach it. */
  readonly directory: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly exclusively: ExclusiveWork;
  /** Told when what was there could not be read and was set aside. Default: a warning of the process. */
  readonly onWarning?: ((warning: RuntimeError) => void) | undefined;
}

export function createFileCandidateStandings(options: FileCandidateStandingsOptions): CandidateStandings {
  return new FileCandidateStandings(options);
}

class FileCandidateStandings implements CandidateStandings {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #file: KeptValue<z.output<typeof content>, StandingTable>;

  constructor({ directory, clock, exclusively, onWarning = warn }: FileCandidateStandingsOptions) {
    this.#clock = clock;
    this.#file = new KeptValue({
      directory: resolve(directory),
      fileName: 'standings.json',
      subject: STANDINGS,
      format: 'wakechart-standings/1',
      schema: content,
      fromContent: ({ standings }) => standingTable(standings),
      toContent: (table) => ({ standings: [...table.values()] }),
      empty: standingTable([]),
      exclusively,
      onSetAside: (problem, path) => onWarning(setAsideWarning(problem, path)),
    });
  }

  async read(candidates: readonly Candidate[]): Promise<readonly CandidateStanding[]> {
    return readStandings(await this.#file.read(), candidates, this.#clock.now());
  }

  async admit(
    candidate: Candidate,
    { isPinned = false }: { readonly isPinned?: boolean | undefined } = {},
  ): Promise<CandidateAdmission> {
    const admit = (table: StandingTable): TableChange<CandidateAdmission> =>
      admitCandidate(table, candidate, { nowMs: this.#clock.now(), isPinned });
    const known = await this.#file.read();
    const seen = admit(known);
    // Only who asks for a probe has to ask alone: everything else is an answer that a moment ago was the right one.
    return seen.table === known ? seen.answer : this.#change(admit);
  }

  async report(candidate: Candidate, outcome: StandingReport, attempt?: ReportedAttempt): Promise<CandidateStanding> {
    return this.#change((table) => reportOutcome(table, candidate, outcome, { nowMs: this.#clock.now(), attempt }));
  }

  async reset(filter?: StandingFilter): Promise<number> {
    return this.#change((table) => resetStandings(table, filter));
  }

  async list(): Promise<readonly CandidateStanding[]> {
    return listStandings(await this.#file.read(), this.#clock.now());
  }

  #change<Answer>(change: (table: StandingTable) => TableChange<Answer>): Promise<Answer> {
    return this.#file.change((before) => {
      const { answer, table } = change(before);
      return { answer, value: table };
    });
  }
}

function setAsideWarning(problem: string, path: string): RuntimeError {
  return new RuntimeError(
    'STANDINGS_SET_ASIDE',
    `what was known of candidates could not be read (${problem}); it lies in ${path}, and every candidate counts as ready again`,
    {
      category: 'storage',
      hint: 'Nothing has to be done: candidates that still fail fall out of use again.',
      details: { path },
    },
  );
}

function warn(warning: RuntimeError): void {
  process.emitWarning(warning.message, { type: 'WakechartWarning', code: warning.code });
}
