/**
 * A program asks the one that wakes a session, through a row and a word to those that listen. The row is read and
 * written with the rights of the session; the word says only that there is one.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../actors/clock/clock.ts';
import type { FleetAnswer, FleetQuestion, FleetQuestions } from '../../actors/inspection/fleet.ts';
import type { PostgresEventStore } from './postgres-event-store.ts';

interface PostgresQuestionsOptions {
  readonly store: Pick<PostgresEventStore, 'database' | 'workerId' | 'say' | 'hear'>;
  readonly clock: Clock;
  /** How long an answer may take, in milliseconds. Default 3,000. */
  readonly listMs?: number | undefined;
  /** The same where something is to be ended. Default 8,000. */
  readonly endMs?: number | undefined;
}

const LIST_MS = 3_000;
const END_MS = 8_000;
/** The word that there is an answer may be lost. */
const CHECK_MS = 500;
/** A worker that was suspended ends nothing that was asked for long ago. */
const TAKEN_WITHIN = "interval '5 seconds'";
const FORGOTTEN_AFTER = "interval '1 minute'";

interface HolderRow {
  readonly id: string;
  readonly owner: string;
  readonly is_alive: boolean;
}

export function createPostgresQuestions(options: PostgresQuestionsOptions): FleetQuestions {
  const { store } = options;
  const { schema } = store.database;
  return {
    async ask(question) {
      const id = randomUUID();
      const [holder] = await store.database.run<HolderRow>(askStatement(schema), [
        id,
        question.sessionId,
        question.pid ?? null,
      ]);
      if (holder === undefined) return undefined;
      const { owner } = holder;
      if (!holder.is_alive) return { is: 'dead', owner };
      const answer = await answerTo(question, { id, worker: holder.id }, options);
      return answer === undefined ? { is: 'silent', owner } : { is: 'told', owner, answer };
    },
    answerWith(answerer) {
      store.hear((word) => {
        if (word.about !== 'ask' || word.worker !== store.workerId) return;
        // One who cannot answer says nothing: the other waits no longer than it wants to.
        void answered(word.id, answerer, options).catch(() => undefined);
      });
    },
  };
}

/** Undefined: there was none in time. */
async function answerTo(
  { pid }: FleetQuestion,
  { id, worker }: { readonly id: string; readonly worker: string },
  { store, clock, listMs = LIST_MS, endMs = END_MS }: PostgresQuestionsOptions,
): Promise<Extract<FleetAnswer, { is: 'told' }>['answer'] | undefined> {
  const { schema } = store.database;
  let ring: () => void = () => undefined;
  const stop = store.hear((word) => {
    if (word.about === 'told' && word.id === id) ring();
  });
  const untilMs = clock.steadyNow() + (pid === undefined ? listMs : endMs);
  try {
    let news = new Promise<void>((resolve) => (ring = resolve));
    await store.say({ about: 'ask', id, worker });
    for (;;) {
      const timer = clock.setTimeout(ring, CHECK_MS);
      await news;
      clock.clearTimeout(timer);
      news = new Promise<void>((resolve) => (ring = resolve));
      const [row] = await store.database.run<{ readonly answer: string | null }>(
        `SELECT answer FROM ${schema}.fleet_question WHERE id = $1`,
        [id],
      );
      if (typeof row?.answer === 'string') return row.answer;
      if (row === undefined || clock.steadyNow() >= untilMs) return undefined;
    }
  } finally {
    stop();
    await store.database.run(`DELETE FROM ${schema}.fleet_question WHERE id = $1`, [id]);
  }
}

async function answered(
  id: string,
  answerer: (question: FleetQuestion) => Promise<string>,
  { store }: PostgresQuestionsOptions,
): Promise<void> {
  const { schema } = store.database;
  const [row] = await store.database.run<{ readonly session_id: string; readonly pid: number | null }>(
    `SELECT session_id, pid FROM ${schema}.fleet_question WHERE id = $1 AND answer IS NULL AND asked_at > clock_timestamp() - ${TAKEN_WITHIN}`,
    [id],
  );
  if (row === undefined) return;
  const answer = await answerer({ sessionId: row.session_id, ...(row.pid === null ? {} : { pid: row.pid }) });
  await store.database.run(`UPDATE ${schema}.fleet_question SET answer = $2 WHERE id = $1`, [id, answer]);
  await store.say({ about: 'told', id });
}

/** What no one came back for goes with the next question. */
function askStatement(schema: string): string {
  return `WITH holder AS (
      SELECT w.id, w.owner, w.alive_until > clock_timestamp() AS is_alive FROM ${schema}.session s JOIN ${schema}.worker w ON w.id = s.lease_worker WHERE s.id = $2),
    forgotten AS (DELETE FROM ${schema}.fleet_question WHERE asked_at < clock_timestamp() - ${FORGOTTEN_AFTER}),
    asked AS (INSERT INTO ${schema}.fleet_question (id, session_id, worker, pid) SELECT $1, $2, h.id, $3::integer FROM holder h WHERE h.is_alive ON CONFLICT (id) DO NOTHING)
    SELECT id, owner, is_alive FROM holder`;
}
