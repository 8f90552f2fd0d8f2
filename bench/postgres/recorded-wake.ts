/**
 * The statements of one wake, as they are sent to the server, to be sent again for other sessions with nothing around
 * them.
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Runtime } from 'wakechart/ports';

export interface RecordedStatement {
  readonly text: string;
  /** Under which it was prepared. */
  readonly name?: string | undefined;
  /** JSON of its values. */
  readonly values: string;
}

/** Part of a claim's answer. */
export interface ClaimedHint {
  readonly sessionId: string;
  readonly causeId: string;
  readonly dueAtMs: number;
}

export interface RecordedWake extends ClaimedHint {
  readonly worker: string;
  /** What takes due sessions for a worker, with its values. */
  readonly claim: RecordedStatement;
  /** Everything else of one wake, in order. */
  readonly statements: readonly RecordedStatement[];
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Statements of a worker's life, of its checks and of its connections: they are not a wake's. */
const OF_WORKER = /worker|claim_due|activation a WHERE|pg_backend_pid/;

/**
 * One append, and where its values say when the event before it was made: other sessions have been made at other times.
 */
const APPEND = /append_one_1/;
const AT = 3;

/** Where the columns of the events begin in the values of each function that appends. */
const COLUMNS = { append_one_1: 6, append_events_1: 4 } as const;

/** Lets a worker wake a session that another runtime has made, and listens. */
export async function recordWake(runtime: Runtime, sessionId: string): Promise<RecordedWake> {
  const heard = hearStatements();
  await runtime.startWorker({ untilIdle: true }).ended;
  heard.stop();
  const claims = heard.statements.filter(({ text }) => text.includes('claim_due'));
  const [claim] = claims;
  const statements = heard.statements.filter(({ text }) => !OF_WORKER.test(text)).map(withoutTime);
  const worker = UUID.exec(claim?.values ?? '')?.[0];
  UUID.lastIndex = 0;
  const [hint] = heard.hints;
  if (claim === undefined || worker === undefined || hint?.sessionId !== sessionId)
    throw new Error('expected to hear how a session is claimed');
  return { ...hint, worker, claim, statements };
}

function withoutTime(statement: RecordedStatement): RecordedStatement {
  if (!APPEND.test(statement.text)) return statement;
  return { ...statement, values: JSON.stringify(valuesOf(statement.values).with(AT, null)) };
}

/** Columns of the events that a wake has appended, one append after the other. */
export function appendedBy({ statements }: RecordedWake): readonly {
  readonly ids: readonly string[];
  readonly types: readonly string[];
  readonly data: readonly string[];
}[] {
  return statements.flatMap(({ text, values }) => {
    const at = Object.entries(COLUMNS).find(([name]) => text.includes(name))?.[1];
    if (at === undefined) return [];
    const [ids = [], types = [], , , data = []] = (JSON.parse(values) as readonly string[][]).slice(at);
    return [{ ids, types, data }];
  });
}

/** The claim for another worker, at another time, without the sessions that it has in hand. */
export function claimFor(
  { claim, worker }: RecordedWake,
  other: string,
  inHand: ReadonlySet<string>,
): readonly unknown[] {
  const values = valuesOf(claim.values.replaceAll(worker, other));
  return values.map((value) =>
    Array.isArray(value) ? [...inHand] : typeof value === 'number' && value > 1e12 ? Date.now() : value,
  );
}

/** The statements for another session: every id in them is a new one. */
export function* statementsFor(
  recorded: RecordedWake,
  worker: string,
  hint: ClaimedHint,
): Generator<{ readonly text: string; readonly name?: string | undefined; readonly values: readonly unknown[] }> {
  const ids = new Map([
    [recorded.sessionId, hint.sessionId],
    [recorded.worker, worker],
    [recorded.causeId, hint.causeId],
  ]);
  const replace = (id: string): string => {
    const known = ids.get(id) ?? randomUUID();
    ids.set(id, known);
    return known;
  };
  for (const { text, name, values } of recorded.statements)
    yield {
      text,
      name,
      values: valuesOf(values.replaceAll(UUID, replace).replaceAll(`${recorded.dueAtMs}`, `${hint.dueAtMs}`)),
    };
}

/** Of rows that a claim has given. */
export function hintsOf(rows: readonly unknown[]): readonly ClaimedHint[] {
  const hints = rows.flatMap((row): readonly unknown[] => (isClaim(row) ? row.hints : []));
  return hints.flatMap((hint) =>
    Array.isArray(hint) ? [{ sessionId: String(hint[0]), causeId: String(hint[2]), dueAtMs: Number(hint[4]) }] : [],
  );
}

function isClaim(row: unknown): row is { readonly hints: readonly unknown[] } {
  return typeof row === 'object' && row !== null && 'hints' in row && Array.isArray(row.hints);
}

function valuesOf(json: string): readonly unknown[] {
  const values: unknown = JSON.parse(json);
  return Array.isArray(values) ? values : [];
}

interface Heard {
  readonly statements: RecordedStatement[];
  readonly hints: ClaimedHint[];
  stop(): void;
}

/** Everything that is asked of any server by this process. */
function hearStatements(): Heard {
  const original: unknown = Reflect.get(Client.prototype, 'query');
  if (typeof original !== 'function') throw new Error('expected the driver to have queries');
  const statements: RecordedStatement[] = [];
  const hints: ClaimedHint[] = [];
  Reflect.set(Client.prototype, 'query', function query(this: Client, ...words: readonly unknown[]): unknown {
    const [request] = words;
    if (isRequest(request))
      statements.push({ text: request.text, name: request.name, values: JSON.stringify(request.values ?? []) });
    const answer: unknown = Reflect.apply(original, this, words);
    if (answer instanceof Promise)
      answer.then(
        ({ rows }: { readonly rows: readonly unknown[] }) => hints.push(...hintsOf(rows)),
        () => undefined,
      );
    return answer;
  });
  return { statements, hints, stop: () => void Reflect.set(Client.prototype, 'query', original) };
}

function isRequest(
  value: unknown,
): value is { readonly text: string; readonly name?: string | undefined; readonly values?: readonly unknown[] } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'text' in value &&
    typeof value.text === 'string' &&
    !('submit' in value)
  );
}
