/**
 * What is kept of a subagent job on disk, so that neither it nor its end is lost with its process.
 *
 *   accepted ──▶ ending ──▶ ended
 *
 * accepted: a caller was told that the job is taken on. It may wait, run, or have been cut off.
 * ending:   how it ended is known, in full; the log of the session it worked for has yet to hear of it, or has just.
 * ended:    that has been heard. The record stays until the job is closed.
 */
import * as z from 'zod';
import { messageOf } from '../errors.ts';
import type { BackgroundTaskState } from '../task/task-state.ts';

export const JOB_RECORD_VERSION = 1;

type JobStage = 'accepted' | 'ending' | 'ended';

const errorRecord = z.looseObject({
  name: z.string(),
  code: z.string(),
  category: z.string(),
  message: z.string(),
  recoverable: z.boolean(),
});

/** What views of a task are made from; whatever else it has is kept as it is. */
const taskState = z.looseObject({
  id: z.string(),
  kind: z.literal('agent'),
  label: z.string(),
  status: z.enum(['queued', 'running', 'waiting_permission', 'sleeping', 'completed', 'failed', 'cancelled']),
  mode: z.enum(['foreground', 'background']),
  parentSessionId: z.string(),
  depth: z.number(),
  cwd: z.string(),
  updatedAt: z.string(),
  unread: z.boolean(),
  result: z.looseObject({ taskId: z.string(), output: z.string() }).optional(),
  error: errorRecord.optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

const jobRecord = z.object({
  version: z.literal(JOB_RECORD_VERSION),
  jobId: z.string().min(1),
  stage: z.enum(['accepted', 'ending', 'ended']),
  /** ISO-8601. */
  acceptedAt: z.string(),
  /** As the job was asked for, whole. */
  request: z.record(z.string(), z.unknown()),
  task: taskState,
});

export interface JobRecord {
  readonly version: typeof JOB_RECORD_VERSION;
  readonly jobId: string;
  readonly stage: JobStage;
  readonly acceptedAt: string;
  readonly request: Readonly<Record<string, unknown>>;
  /** The task as it was last stored: terminal from `ending` on. */
  readonly task: BackgroundTaskState;
}

/** The record that `value` is; undefined when it is none of this version. */
export function jobRecordOf(value: unknown): JobRecord | undefined {
  const parsed = jobRecord.safeParse(value);
  // The loose schema checks what is read; the rest of the state is what this runtime wrote.
  return parsed.success ? (parsed.data as unknown as JobRecord) : undefined;
}

/**
 * The record as text. What JSON has no words for is written as what comes closest; what cannot be written at all
 * becomes a note.
 */
export function jobRecordText(record: object): string {
  try {
    return JSON.stringify(record, asJson);
  } catch (error) {
    const note = { notPlainData: messageOf(error) };
    return JSON.stringify(record, (key, value: unknown) => (key === 'metadata' ? note : asJson(key, value)));
  }
}

function asJson(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Map) return [...value.entries()];
  if (value instanceof Set) return [...value.values()];
  return value;
}
