/**
 * What an agent has learned, as it is kept for all its sessions, and how it is told that two learnings are the same.
 */
import * as z from 'zod';
import { MAX_DETAIL_CHARACTERS, MAX_TITLE_CHARACTERS, learningKind } from './memory-entry.ts';

/** Learnings that are kept of one agent. */
export const MAX_LEARNINGS = 5_000;

/** Sessions that are remembered of one learning. */
export const MAX_SESSIONS_OF_LEARNING = 50;

/** Logs may hold longer ones than a model may write now. */
export const MAX_KEPT_CHARACTERS = 4_000;

const id = z.string().min(1).max(200);

/** One capture, as a session's log has it. `seq`: of the event that holds it. */
export const capturedLearning = z.strictObject({
  learningId: id,
  kind: learningKind,
  title: z.string().min(1).max(MAX_KEPT_CHARACTERS),
  detail: z.string().max(MAX_KEPT_CHARACTERS),
  dedupeKey: id.optional(),
  sessionId: id,
  seq: z.number().int().positive(),
  /** ISO-8601. */
  at: z.iso.datetime(),
});

export type CapturedLearning = Readonly<z.output<typeof capturedLearning>>;

export interface KeptLearning extends CapturedLearning {
  /** How often it was learned. */
  readonly count: number;
  /** When it was learned last: ISO-8601. */
  readonly lastSeenAt: string;
  /** In which it was learned, the first ones. */
  readonly sessionIds: readonly string[];
  /** A person took it out. The same again does not bring it back. */
  readonly isForgotten: boolean;
}

/** What a model says of something it has learned. */
export const newLearning = z.strictObject({
  kind: learningKind.describe(
    'lesson: what works. correction: what you had wrong. error: what goes wrong, and how to get past it.',
  ),
  title: z.string().trim().min(1).max(MAX_TITLE_CHARACTERS).describe('One line.'),
  detail: z.string().trim().min(1).max(MAX_DETAIL_CHARACTERS).describe('What to do with it. No secrets.'),
  dedupeKey: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('What it is about: another one with the same key and other words corrects the earlier one.'),
  promoteToMemory: z
    .boolean()
    .optional()
    .describe('Whether it is to be in the memory of all your sessions, once the outcome of this one is reached.'),
});

export type NewLearning = Readonly<z.output<typeof newLearning>>;

/**
 * The same text for learnings that are the same: those of the same kind and key, or none, whose title and detail have
 * the same letters and digits in the same order, whatever their case, accents' encoding, white space and punctuation.
 * The same key with other words is a correction.
 */
export function identityOf({ dedupeKey, ...said }: Said & Pick<CapturedLearning, 'dedupeKey'>): string {
  return dedupeKey === undefined ? wordsOf(said) : `key ${JSON.stringify(dedupeKey)} ${wordsOf(said)}`;
}

type Said = Pick<CapturedLearning, 'kind' | 'title' | 'detail'>;

/** What it says: the same text for those of the same kind that say the same. */
export function wordsOf({ kind, title, detail }: Said): string {
  return `text ${kind} ${words(title)} / ${words(detail)}`;
}

function words(text: string): string {
  const folded = text.normalize('NFKC').toLowerCase();
  const bare = folded.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ').trim();
  // What holds no letter at all is what it is.
  return bare === '' ? folded.replaceAll(/\s+/gu, ' ').trim() : bare;
}
