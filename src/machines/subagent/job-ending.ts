/** Why the session of a job that did not complete was terminated, as its own log says it. */
import { beginningOf } from '../cut-text.ts';
import { MAX_SUMMARY_CHARACTERS } from '../session/limits.ts';

export interface UnfinishedJob {
  readonly jobId: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** What stands behind it quotes the error. Logs from before 0.1.0 have no code in it. */
const ENDING = /^the job [^\n]{1,200}? whose work it did (?:failed|was cancelled)(?: \[\w+\])?(?=: )/;

export function jobEndingText({ jobId, status, error }: UnfinishedJob): string {
  const ended = `the job ${jobId} whose work it did ${status === 'cancelled' ? 'was cancelled' : 'failed'}`;
  return beginningOf(
    error === undefined ? ended : `${ended} [${error.code}]: ${error.message}`,
    MAX_SUMMARY_CHARACTERS,
  );
}

/** The same without what it quotes; undefined for any other text. */
export function jobEndingWithoutError(text: string): string | undefined {
  return ENDING.exec(text)?.[0];
}
