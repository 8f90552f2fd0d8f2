/**
 * The directive: how a model says what comes after its turn. It comes as data from a backend, or as a fenced block in the text:
 *
 *   ```wakechart-directive
 *   { "outcome": "sleep", "summary": "Reviewed.", "queuedWakes": [{ "reason": "recheck", "delaySeconds": 60 }] }
 *   ```
 *
 * A turn without one means sleep. A malformed one means sleep too, and is recorded.
 */
import { z } from 'zod';
import { describeIssues } from '../validate.ts';

export const MAX_QUEUED_WAKES_PER_DIRECTIVE = 3;
export const MAX_LEARNINGS_PER_DIRECTIVE = 3;
export const MAX_WAKE_DELAY_SECONDS = 86_400;
/** Characters of a directive as JSON. */
export const MAX_DIRECTIVE_CHARACTERS = 64_000;
/** Characters of a malformed directive that are kept for reading. */
export const MAX_REJECTED_CHARACTERS = 2_000;

const delaySeconds = z.number().int().min(0).max(MAX_WAKE_DELAY_SECONDS);
const dedupeKey = z.string().min(1).max(200);

export const wakePriority = z.enum(['low', 'normal', 'high']);

export type WakePriority = z.output<typeof wakePriority>;

const queuedWakeRequest = z.strictObject({
  reason: z.string().min(1).max(200),
  delaySeconds,
  note: z.string().max(2_000).optional(),
  /** At most one queued wake of a session carries the same key. */
  dedupeKey: dedupeKey.optional(),
  priority: wakePriority.default('normal'),
});

const learning = z.strictObject({
  kind: z.enum(['lesson', 'correction', 'error']),
  title: z.string().min(1).max(120),
  detail: z.string().min(1).max(400),
  promoteToMemory: z.boolean().optional(),
  dedupeKey: dedupeKey.optional(),
});

export const directive = z.strictObject({
  outcome: z.enum(['sleep', 'continue']),
  summary: z.string().min(1).max(2_000),
  /** Wake again after this many seconds; with `continue`, instead of going on at once. */
  followUpSeconds: delaySeconds.min(1).optional(),
  queuedWakes: z.array(queuedWakeRequest).max(MAX_QUEUED_WAKES_PER_DIRECTIVE).default([]),
  learnings: z.array(learning).max(MAX_LEARNINGS_PER_DIRECTIVE).default([]),
  /** Asks somebody outside to run a tool of their own; the session waits in `requires_action` for the answer. */
  customToolRequest: z.strictObject({ name: z.string().min(1).max(200), input: z.json() }).optional(),
});

export type Directive = Readonly<z.output<typeof directive>>;
export type DirectiveInput = z.input<typeof directive>;
export type QueuedWakeRequest = Directive['queuedWakes'][number];

/** What a model's turn says about what comes next. `text` is the turn's text without the block that was understood. */
export type DirectiveReading =
  | { readonly kind: 'none'; readonly text: string }
  | { readonly kind: 'accepted'; readonly text: string; readonly directive: Directive }
  | { readonly kind: 'malformed'; readonly text: string; readonly reason: string; readonly received: string };

export interface DirectiveSource {
  readonly text: string;
  /** Directives given as data, in the order they came. They win over the text. */
  readonly structured: readonly unknown[];
}

/** Reads the directive of one turn. Never throws: whatever a model says, the session goes on. */
export function readDirective({ text, structured }: DirectiveSource): DirectiveReading {
  const [first, second] = structured;
  if (second !== undefined) return malformed(text, `expected one directive, received ${structured.length}`, structured);
  if (first !== undefined) return check(first, text, text, first);
  return readFencedBlock(text);
}

const OPENING = /^[ \t]*```wakechart-directive[ \t]*\r?$/gm;
const BLOCK = /^[ \t]*```wakechart-directive[ \t]*\r?\n([\s\S]*?)^[ \t]*```[ \t]*\r?$\n?/m;

function readFencedBlock(text: string): DirectiveReading {
  const openings = text.match(OPENING)?.length ?? 0;
  if (openings === 0) return { kind: 'none', text };
  if (openings > 1) return malformed(text, `expected one directive block, received ${openings}`, text);
  const block = BLOCK.exec(text);
  const json = block?.[1];
  if (block === null || json === undefined) return malformed(text, 'the directive block has no closing ``` line', text);
  if (json.length > MAX_DIRECTIVE_CHARACTERS) {
    return malformed(text, `expected at most ${MAX_DIRECTIVE_CHARACTERS} characters, received ${json.length}`, json);
  }
  const parsed = parseJson(json);
  if (!parsed.ok) return malformed(text, `the directive block is not JSON: ${parsed.reason}`, json);
  return check(parsed.value, text, text.replace(BLOCK, '').trim(), json);
}

function check(value: unknown, whole: string, withoutBlock: string, received: unknown): DirectiveReading {
  const result = directive.safeParse(value);
  if (result.success) return { kind: 'accepted', text: withoutBlock, directive: result.data };
  return malformed(whole, describeIssues(result.error).join('; '), received);
}

function malformed(text: string, reason: string, received: unknown): DirectiveReading {
  return { kind: 'malformed', text, reason, received: asText(received).slice(0, MAX_REJECTED_CHARACTERS) };
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    return 'a value that is not JSON';
  }
}

function parseJson(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : 'unreadable' };
  }
}
