/**
 * The health of candidates, in one file of the folder of accounts, shared by processes. It is experience, not truth:
 * damage begins it anew, and says so.
 */
import { resolve } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import type { CandidateHealthStore } from '../../actors/run/candidate-health-store.ts';
import type { ExclusiveWork } from '../../actors/run/exclusive-work.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { ReportedAttempt } from '../../machines/run/breaker.ts';
import type { Candidate } from '../../machines/run/candidate.ts';
import { candidateHealthSchema } from '../../machines/run/candidate-health.ts';
import type { CandidateHealth } from '../../machines/run/candidate-health.ts';
import {
  MAX_CANDIDATES_KNOWN,
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
import { CANDIDATE_HEALTH_FILE, CANDIDATE_HEALTH_FORMAT, CANDIDATE_HEALTH_KEY } from '../../machines/stored-names.ts';
import { CANDIDATE_HEALTH } from './auth-errors.ts';
import { KeptValue } from './kept-value.ts';

const content = z.strictObject({
  [CANDIDATE_HEALTH_KEY]: z.array(candidateHealthSchema.strict()).max(MAX_CANDIDATES_KNOWN),
});

export interface FileCandidateHealthStoreOptions {
  /** The folder of accounts in a home; made with the first change. No agent may reach it. */
  readonly directory: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly exclusively: ExclusiveWork;
  /** Told when what was there could not be read and was set aside. Default: a warning of the process. */
  readonly onWarning?: ((warning: RuntimeError) => void) | undefined;
}

export function createFileCandidateHealthStore(options: FileCandidateHealthStoreOptions): CandidateHealthStore {
  return new FileCandidateHealthStore(options);
}

class FileCandidateHealthStore implements CandidateHealthStore {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #file: KeptValue<z.output<typeof content>, HealthTable>;

  constructor({ directory, clock, exclusively, onWarning = warn }: FileCandidateHealthStoreOptions) {
    this.#clock = clock;
    this.#file = new KeptValue({
      directory: resolve(directory),
      fileName: CANDIDATE_HEALTH_FILE,
      subject: CANDIDATE_HEALTH,
      format: CANDIDATE_HEALTH_FORMAT,
      schema: content,
      fromContent: ({ [CANDIDATE_HEALTH_KEY]: known }) => healthTable(known),
      toContent: (table) => ({ [CANDIDATE_HEALTH_KEY]: [...table.values()] }),
      empty: healthTable([]),
      exclusively,
      onSetAside: (problem, path) => onWarning(setAsideWarning(problem, path)),
    });
  }

  async read(candidates: readonly Candidate[]): Promise<readonly CandidateHealth[]> {
    return readHealth(await this.#file.read(), candidates, this.#clock.now());
  }

  async admit(
    candidate: Candidate,
    { isPinned = false }: { readonly isPinned?: boolean | undefined } = {},
  ): Promise<CandidateAdmission> {
    const admit = (table: HealthTable): TableChange<CandidateAdmission> =>
      admitCandidate(table, candidate, { nowMs: this.#clock.now(), isPinned });
    const known = await this.#file.read();
    const seen = admit(known);
    // Only who asks for a probe has to ask alone: everything else is an answer that a moment ago was the right one.
    return seen.table === known ? seen.answer : this.#change(admit);
  }

  async report(candidate: Candidate, outcome: HealthReport, attempt?: ReportedAttempt): Promise<CandidateHealth> {
    return this.#change((table) => reportOutcome(table, candidate, outcome, { nowMs: this.#clock.now(), attempt }));
  }

  async reset(filter?: HealthFilter): Promise<number> {
    return this.#change((table) => resetHealth(table, filter));
  }

  async list(): Promise<readonly CandidateHealth[]> {
    return listHealth(await this.#file.read(), this.#clock.now());
  }

  #change<Answer>(change: (table: HealthTable) => TableChange<Answer>): Promise<Answer> {
    return this.#file.change((before) => {
      const { answer, table } = change(before);
      return { answer, value: table };
    });
  }
}

function setAsideWarning(problem: string, path: string): RuntimeError {
  return new RuntimeError(
    'CANDIDATE_HEALTH_SET_ASIDE',
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
