/**
 * How candidates stand is the same for the workers of all machines: one probe at a time, no report lost and none
 * counted twice.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresCandidateHealthStore } from '../../../src/adapters/postgres/candidate-health-store.ts';
import type { PostgresDatabase, Statement } from '../../../src/adapters/postgres/postgres-database.ts';
import type { RuntimeError } from '../../../src/machines/errors.ts';
import type { Candidate } from '../../../src/machines/run/candidate.ts';
import { MAX_CANDIDATES_KNOWN } from '../../../src/machines/run/health-table.ts';
import type { HealthReport } from '../../../src/machines/run/health-table.ts';
import { describeCandidateHealthStore } from '../../contracts/candidate-health.contract.ts';
import type { ContractSubject, candidateHealthContract } from '../../../src/testing.ts';
import { ask } from '../../support/postgres-databases.ts';
import { cutConnections } from '../../support/postgres-server.ts';
import { losingAnswers, openSharedTables } from '../../support/shared-tables.ts';
import type { SharedTables } from '../../support/shared-tables.ts';

let tables: SharedTables;
beforeAll(async () => void (tables = await openSharedTables()));
afterAll(() => tables.drop());

const ONE: Candidate = { provider: 'anthropic', model: 'large', profile: 'work' };
const OVERLOADED: HealthReport = { kind: 'failed', failure: { kind: 'overloaded', message: 'it was overloaded' } };
const MINUTE_MS = 60_000;

interface Opened extends ContractSubject<typeof candidateHealthContract> {
  readonly warnings: readonly RuntimeError[];
  dispose(): Promise<void>;
}

async function opened(
  wrap: (database: PostgresDatabase) => PostgresDatabase = (database) => database,
): Promise<Opened> {
  await tables.clear();
  let nowMs = Date.UTC(2026, 0, 1);
  const warnings: RuntimeError[] = [];
  const open = (database: PostgresDatabase) =>
    createPostgresCandidateHealthStore({
      database: wrap(database),
      clock: { now: () => nowMs },
      onWarning: (warning) => warnings.push(warning),
    });
  const advance = (durationMs: number): void => {
    nowMs += durationMs;
  };
  return {
    candidateHealth: open(tables.one),
    beside: open(tables.other),
    now: () => nowMs,
    advance,
    warnings,
    dispose: async () => undefined,
  };
}

describeCandidateHealthStore('in a database', () => opened());
describeCandidateHealthStore('in a database whose answers are lost', () => opened(losingAnswers));

describe('the health of candidates in a database', () => {
  it.each([
    ['while every answer is lost', losingAnswers],
    ['whose answers come', (database: PostgresDatabase) => database],
  ])('let one of many workers probe, and count each report once, %s', async (_, wrap) => {
    const { candidateHealth, beside, advance } = await opened(wrap);
    await Promise.all(
      Array.from({ length: 12 }, (_unused, index) =>
        (index % 2 === 0 ? candidateHealth : beside).report(
          { ...ONE, model: `model-${index % 3}` },
          { kind: 'succeeded' },
        ),
      ),
    );
    await candidateHealth.report(ONE, OVERLOADED);
    for (let failures = 1; failures <= 3; failures += 1) {
      advance(60 * MINUTE_MS);
      const admissions = await Promise.all(
        Array.from({ length: 10 }, (_unused, index) => (index % 2 === 0 ? candidateHealth : beside).admit(ONE)),
      );
      expect(admissions.filter(({ kind }) => kind === 'admitted')).toEqual([{ kind: 'admitted', isProbe: true }]);
      expect((await beside.report(ONE, OVERLOADED)).failures).toBe(failures + 1);
    }
  });

  it('let one of many workers probe while connections are cut', async () => {
    const { candidateHealth, beside, advance } = await opened();
    await candidateHealth.report(ONE, OVERLOADED);
    advance(MINUTE_MS);
    let isDone = false;
    const cutting = (async () => {
      while (!isDone) await cutConnections(tables.url);
    })();
    const admissions = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? candidateHealth : beside).admit(ONE)),
    );
    isDone = true;
    await cutting;
    expect(admissions.filter(({ kind }) => kind === 'admitted')).toEqual([{ kind: 'admitted', isProbe: true }]);
  });

  it('are not brought back by who had seen them before they were forgotten', async () => {
    const { candidateHealth, beside } = await opened();
    await candidateHealth.report(ONE, OVERLOADED);
    const database: PostgresDatabase = {
      schema: tables.one.schema,
      transaction: (work) => tables.one.transaction(work),
      async run<Row>(statement: Statement, values?: readonly unknown[]): Promise<readonly Row[]> {
        if (
          (typeof statement === 'string' ? statement : statement.text).startsWith('UPDATE') &&
          (await beside.list()).length > 0
        )
          await beside.reset();
        return tables.one.run<Row>(statement, values);
      },
    };
    const slow = createPostgresCandidateHealthStore({ database, clock: { now: () => Date.UTC(2026, 0, 1) } });
    expect((await slow.report(ONE, OVERLOADED)).failures).toBe(1);
  });

  it('that cannot be read count as unknown, say so once, and are replaced', async () => {
    const { candidateHealth, beside, warnings } = await opened();
    await candidateHealth.report(ONE, OVERLOADED);
    await ask(tables.url, `UPDATE wakechart.candidate_standing SET body = '{"v":1'`);
    expect(await beside.admit(ONE)).toEqual({ kind: 'admitted', isProbe: false });
    expect(await beside.list()).toEqual([]);
    expect(warnings.map(({ code }) => code)).toEqual(['CANDIDATE_HEALTH_INVALID']);
    expect((await candidateHealth.report(ONE, OVERLOADED)).state).toBe('cooling');
    expect(await beside.list()).toHaveLength(1);
  });

  it('of names of any kind and length are apart', async () => {
    const { candidateHealth, beside } = await opened();
    const names = [
      '\0',
      '\ud800',
      '\ud801',
      'é',
      'e\u0301',
      'x'.repeat(200),
      '\u{1F552}'.repeat(100),
      "';--",
      '"',
      '\\',
    ];
    for (const model of names) await candidateHealth.report({ ...ONE, model }, OVERLOADED);
    expect((await beside.list()).map(({ candidate }) => candidate.model)).toEqual(names);
    expect((await beside.read(names.map((model) => ({ ...ONE, model })))).map(({ failures }) => failures)).toEqual(
      names.map(() => 1),
    );
  });

  it('are no more than anybody has: those about which there is nothing to know go first', async () => {
    const { candidateHealth, beside } = await opened();
    await ask(
      tables.url,
      `INSERT INTO wakechart.candidate_standing (key, revision, writes, body)
         SELECT 'old-' || n, 1, ARRAY[gen_random_uuid()], json_build_object('candidate', json_build_object('provider', 'p', 'model', 'm' || n), 'state',
           CASE WHEN n % 2 = 0 THEN 'closed' ELSE 'cooling' END, 'failures', 1, 'billingFailures', 0, 'lastUsedAt', to_char(timestamp '2025-01-01' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
         FROM generate_series(1, ${MAX_CANDIDATES_KNOWN + 1}) AS n`,
    );
    await candidateHealth.report(ONE, OVERLOADED);
    const [row] = await ask<{ readonly there: number; readonly cooling: number }>(
      tables.url,
      `SELECT count(*)::int AS there, count(*) FILTER (WHERE body::json ->> 'state' = 'cooling')::int AS cooling FROM wakechart.candidate_standing`,
    );
    expect(row).toEqual({ there: MAX_CANDIDATES_KNOWN, cooling: MAX_CANDIDATES_KNOWN / 2 + 2 });
    expect(await beside.read([ONE])).toMatchObject([{ failures: 1 }]);
  });
});
