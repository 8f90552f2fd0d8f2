/**
 * What PostgreSQL and its driver say, in words that help, as errors of ours. No text of ours holds a password: the
 * driver's do not either.
 */
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import { CANDIDATE_HEALTH_TABLE, SCHEDULE_STATE_TABLE } from '../../machines/stored-names.ts';
import { ADDED_TABLE, COPY_TABLE, PIECE_TABLE } from './workspace-copy-tables.ts';

// What a statement of ours does, in words for its caller, who has never heard of its functions and tables.

/** By function or table; how a sentence goes on that begins with "could not". */
const WORDS: Readonly<Record<string, string>> = {
  acquire_lease: 'get the right to wake a session',
  activation: 'see what is due',
  append: 'append to a session',
  append_events: 'append to a session',
  append_one: 'append to a session',
  append_schedule_records: 'note what became of a schedule',
  blob: 'read a session',
  [CANDIDATE_HEALTH_TABLE]: 'see which accounts are to be spared',
  claim: 'claim what is due',
  claim_due: 'claim what is due',
  create_session: 'create a session',
  delete_session: 'delete a session',
  event: 'read a session',
  [COPY_TABLE]: 'see on which machine the folder of a session is',
  [ADDED_TABLE]: 'see which files were added to a session',
  [PIECE_TABLE]: 'copy the folder of a session',
  job: 'see which jobs of subagents there are',
  job_owner: 'say that this process lives, whose jobs others would take over',
  migration: 'see which version the tables have',
  own_tenant: 'see which tenant this user works for',
  policy: 'see which rules people have allowed',
  read_events: 'read a session',
  release_leases: 'give back the right to wake a session',
  schedule_definition: 'see which schedules there are',
  schedule_log: 'see what became of a schedule',
  schedule_record: 'see what became of a schedule',
  [SCHEDULE_STATE_TABLE]: 'see which state schedules are in',
  session: 'look up a session',
  view: 'look up a session',
  worker: 'say that this worker lives',
};

/**
 * @param name the function, whose version its number is, or the table; or the beginning of a statement about neither
 */
function statementWords(name: string): string {
  const known = WORDS[name.replace(/_\d+$/, '')];
  if (known !== undefined) return known;
  // Of what the server says about itself.
  return /^[a-z_0-9]+$/.test(name) ? `run ${name}` : 'ask the database';
}

const UNKNOWN_ISSUER =
  "No known authority has signed the server's certificate. Name the file of the one that did in the URL: sslmode=verify-full&sslrootcert=/path/to/ca.pem";

const HINTS: Readonly<Record<string, string>> = {
  '28P01': 'Check user and password in the URL.',
  '28000': 'Check pg_hba.conf, the user, and whether the server asks for TLS (sslmode=require in the URL).',
  '3D000': 'Create the database first.',
  '42501': 'Grant the role what it needs; `wakechart store roles` prints the statements.',
  '53100': "The server's disk is full. Free some space there; everything that was acknowledged is stored.",
  '53200': 'The server is out of memory.',
  '53300':
    'The server takes no more connections. Raise its max_connections, let each program have fewer (pool_size=2 in the URL, poolSize in a program), or put PgBouncer in between.',
  '3F000': 'Make the schema first: wakechart store migrate --store URL',
  '42P01': 'Make the tables first: wakechart store migrate --store URL',
  '42883': 'Bring the schema up to date first: wakechart store migrate --store URL',
  ECONNREFUSED: 'Check that the server runs and that host and port of the URL are right.',
  ENOTFOUND: 'Check the host of the URL.',
  ENOENT: 'Check the folder of the socket, and the file of sslrootcert, in the URL.',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_ISSUER,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  CERT_SIGNATURE_FAILURE: UNKNOWN_ISSUER,
  CERT_HAS_EXPIRED: "Renew the server's certificate.",
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Name the server in the URL as its certificate does, or have a certificate made for that name.',
};

/** States of the server that pass: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const PASSING = /^(08...|57P0[1-5]|53300|25006|40001|40P01|55P03|58030)$/;

/** The network between us: what Node says, and what the driver says without a code. */
const CUT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTCONN',
]);
const CUT_WORDS =
  /Connection terminated|connection timeout|timeout expired|timeout exceeded|Query read timeout|Client has encountered a connection error|Client was closed|not queryable|socket/i;
/** What a pooler says when the server behind it is away. */
const POOLER_WORDS =
  /server_login_retry|server conn crashed|query_wait_timeout|pgbouncer|server closed the connection/i;

export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether the same statement may succeed later, as it is. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined && (PASSING.test(code) || CUT_CODES.has(code))) return true;
  const message = messageOf(error);
  return POOLER_WORDS.test(message) || (code === undefined && CUT_WORDS.test(message));
}

/** Whether we gave up waiting for the answer to a statement, which may run on. */
export function isUnanswered(error: unknown): boolean {
  return codeOf(error) === undefined && /Query read timeout/.test(messageOf(error));
}

/** Whether two transactions met, which has undone ours. */
export function isCollision(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error) ?? '');
}

/** The driver says so where the server asks for a password and it knows of none. */
const NO_PASSWORD = /password must be a (non-empty )?string/;

/**
 * @param what was being done; `run` and a function or a table is told in words of people. An error of ours passes
 * through.
 */
export function databaseFailed(what: string, error: unknown): RuntimeError {
  if (RuntimeError.is(error)) return error;
  const code = codeOf(error);
  const [, statement] = /^run ([^]*)$/.exec(what) ?? [];
  const message = messageOf(error);
  const isOpen = NO_PASSWORD.test(message);
  return new RuntimeError(
    'STORAGE_FAILED',
    `could not ${statement === undefined ? what : statementWords(statement)}: ${isOpen ? 'the server asks for a password, and none was given' : message}`,
    {
      category: 'storage',
      hint: isOpen
        ? 'Give it in the URL, or with $PGPASSWORD or $PGPASSFILE.'
        : ((code === undefined ? undefined : HINTS[code]) ?? 'Check the PostgreSQL server, then try again.'),
      details: code === undefined ? undefined : { systemCode: code },
      cause: error,
    },
  );
}

export function storeOverloaded(waitedMs: number, cause: unknown): RuntimeError {
  return new RuntimeError(
    'STORE_OVERLOADED',
    `expected a free connection within ${waitedMs} ms, and all of them are busy`,
    {
      category: 'capacity',
      hint: 'Raise poolSize, or search for statements that take long on the server.',
      details: { waitedMs },
      cause,
    },
  );
}
