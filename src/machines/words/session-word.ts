/** What a model says while it says it, as followers of a session hear it: plain data, also between processes. */
import * as z from 'zod';

/**
 * What a model says while it says it, and how far calls have come. Lossy by design: the log has what was said in the
 * end.
 */
export type SessionWord =
  /** The next piece. */
  | { readonly type: 'said'; readonly kind: 'text' | 'reasoning'; readonly text: string }
  /** The attempt failed, or its process died: pieces since the last `logged` count for nothing. */
  | { readonly type: 'taken_back' }
  /** The step is over: what was said is in the log, in events after this number, as soon as they are stored. */
  | { readonly type: 'logged'; readonly after: number }
  /** How far a call has come, where its tool tells that. */
  | {
      readonly type: 'progress';
      readonly callId: string;
      readonly name: string;
      readonly progress: {
        readonly message?: string | undefined;
        readonly done?: number | undefined;
        readonly total?: number | undefined;
      };
    }
  /** Pieces were dropped here: a slow reader, a cut connection, one that joined late in a long step. */
  | { readonly type: 'lost' };

const sessionWord: z.ZodType<SessionWord> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('said'), kind: z.enum(['text', 'reasoning']), text: z.string() }),
  z.object({ type: z.literal('taken_back') }),
  z.object({ type: z.literal('logged'), after: z.int().nonnegative() }),
  z.object({
    type: z.literal('progress'),
    callId: z.string(),
    name: z.string(),
    progress: z.object({
      message: z.string().optional(),
      done: z.number().optional(),
      total: z.number().optional(),
    }),
  }),
  z.object({ type: z.literal('lost') }),
]);

/** Undefined for what is no word: a newer version may say more, a stranger anything. */
export function readWord(value: unknown): SessionWord | undefined {
  return sessionWord.safeParse(value).data;
}
