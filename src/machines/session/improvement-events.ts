/**
 * The events by which an agent gets better: what a session is to achieve and whether it did, what was learned, and what
 * all sessions share from then on.
 */
import * as z from 'zod';
import { runUsage } from '../run/run-output.ts';
import { define } from './event-definition.ts';
import { id, note, summary } from './event-parts.ts';
import { promotionOfSharedFiles } from './former-events.ts';

export const outcomeText = {
  title: z.string().min(1).max(200),
  detail: note.optional(),
  criteria: z.array(z.string().min(1).max(500)).max(20).optional(),
};

/** A command whose exit code says whether the outcome is reached. Only people set one. */
export const outcomeCheck = z.object({
  command: z.string().min(1).max(2_000),
  timeoutSeconds: z.number().int().min(1).max(3_600).optional(),
});

/** How far a session has come with its outcome, by its status and what its log shows. */
export const outcomeGrade = z.enum(['missing_outcome', 'blocked', 'sleeping', 'in_progress', 'done_candidate']);

export type OutcomeGrade = z.output<typeof outcomeGrade>;

/** Whether an outcome is reached. */
export const outcomeVerdict = z.enum(['not_ready', 'uncertain', 'fail', 'pass']);

export type OutcomeVerdict = z.output<typeof outcomeVerdict>;

/** Something that speaks for or against an outcome. `seq`: the event that shows it. */
const evidence = z.object({
  kind: z.enum(['tool_result', 'exit_code', 'file', 'check', 'judge', 'status']),
  speaks: z.enum(['for', 'against', 'neither']),
  text: z.string().max(500),
  seq: z.number().int().positive().optional(),
});

export type OutcomeEvidence = Readonly<z.output<typeof evidence>>;

export const improvementEvents = {
  'learning.captured': define(
    'The agent learned something.',
    z.object({
      learningId: id,
      kind: z.enum(['lesson', 'correction', 'error']),
      title: z.string(),
      detail: z.string(),
      promoteToMemory: z.boolean(),
      dedupeKey: z.string().optional(),
    }),
  ),
  'learning.kept': define(
    'What the agent learned is kept for all its sessions. `duplicate`: it was known already.',
    z.object({ learningId: id, as: z.enum(['new', 'duplicate']), duplicateOf: id.optional() }),
  ),
  'outcome.defined': define(
    'The agent said what it is to achieve. What a client said counts before it.',
    z.object(outcomeText),
  ),
  'outcome.graded': define(
    'How far the session has come with its outcome.',
    z.object({ grade: outcomeGrade, because: summary, evidence: z.array(evidence).max(50) }),
  ),
  'outcome.evaluated': define(
    'Whether the outcome is reached, by what the log shows up to `throughSeq`. `stageDigest`: of the files that were staged to be shared, all through the evaluation. `usage`: of the judge.',
    z.object({
      verdict: outcomeVerdict,
      because: summary,
      evidence: z.array(evidence).max(50),
      throughSeq: z.number().int().nonnegative(),
      evaluators: z.array(z.enum(['log', 'check', 'judge'])),
      stageDigest: z.string().max(100).optional(),
      usage: runUsage.optional(),
    }),
  ),
  'memory.promoted': define(
    'These learnings are in the memory of the agent, from this version on.',
    z.object({
      version: z.number().int().positive(),
      expectedVersion: z.number().int().nonnegative(),
      learningIds: z.array(id),
    }),
  ),
  'files.promoted': define(
    'These files of the agent are as this session has made them, from this version on.',
    z.object({
      version: z.number().int().positive(),
      expectedVersion: z.number().int().nonnegative(),
      paths: z.array(z.string()),
    }),
  ),
  'promotion.refused': define(
    'Something was not promoted, and why.',
    z.object({ what: z.enum(['memory', 'shared_files']), because: summary, learningIds: z.array(id).optional() }),
    [promotionOfSharedFiles],
  ),
} as const;
