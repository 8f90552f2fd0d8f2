/** The events of the stream of `codex exec --json`, as far as they are relied upon. The rest is let through unread. */
import * as z from 'zod';

const count = z.number().nonnegative().transform(Math.round).optional().catch(undefined);

export const threadStarted = z.object({ thread_id: z.string().min(1) });

export const turnCompleted = z.object({
  usage: z
    .object({
      input_tokens: count,
      cached_input_tokens: count,
      cache_write_input_tokens: count,
      output_tokens: count,
      reasoning_output_tokens: count,
    })
    .optional()
    .catch(undefined),
});

export const turnFailed = z.object({ error: z.object({ message: z.string() }) });

export const errorEvent = z.object({ message: z.string() });

/** What every item has. */
export const itemEvent = z.object({ item: z.looseObject({ id: z.string().min(1).max(500), type: z.string() }) });

export type CodexItem = z.output<typeof itemEvent>['item'];

export const textItem = z.object({ text: z.string() });

export const errorItem = z.object({ message: z.string() });

/** What a tool was given and gave back, by the type of its item. */
const text = z.string().optional().catch(undefined);

export const toolItem = z.looseObject({
  status: text,
  command: text,
  aggregated_output: text,
  exit_code: z.number().optional().catch(undefined),
  changes: z.array(z.unknown()).optional().catch(undefined),
  server: text,
  tool: text,
  arguments: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional().catch(undefined),
  query: text,
});

export type CodexToolItem = z.output<typeof toolItem>;
