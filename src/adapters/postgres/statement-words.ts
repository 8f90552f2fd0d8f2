/** What a statement of ours does, in words for its caller, who has never heard of its functions and tables. */
import { CANDIDATE_HEALTH_TABLE, SCHEDULE_STATE_TABLE } from '../../machines/stored-names.ts';
import { ADDED_TABLE, COPY_TABLE, PIECE_TABLE } from './workspace-copy-tables.ts';

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
export function statementWords(name: string): string {
  const known = WORDS[name.replace(/_\d+$/, '')];
  if (known !== undefined) return known;
  // Of what the server says about itself.
  return /^[a-z_0-9]+$/.test(name) ? `run ${name}` : 'ask the database';
}
