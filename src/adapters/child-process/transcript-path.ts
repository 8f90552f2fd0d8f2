/**
 * Where the transcript of a job lies: names that come from outside lead to a file below the folder of transcripts, and
 * to no other one's.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/;
const KEPT_CHARACTERS = 60;
const HASH_CHARACTERS = 16;

export interface TranscriptPlace {
  readonly logsDir: string;
  readonly parentSessionId: string;
  readonly jobId: string;
}

export function transcriptPath({ logsDir, parentSessionId, jobId }: TranscriptPlace): string {
  return join(logsDir, safeName(parentSessionId), 'subagents', `${safeName(jobId)}.jsonl`);
}

/**
 * The name itself where it is harmless on every file system; else what is harmless of it, and a hash that tells it from
 * others.
 */
function safeName(name: string): string {
  if (SAFE_NAME.test(name) && !name.endsWith('.')) return name;
  const readable = name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, KEPT_CHARACTERS);
  return `_${readable}-${createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS)}`;
}
