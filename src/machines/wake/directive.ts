/**
 * The directive: how a model says what comes after its turn. It comes as data from a backend, or as a fenced block in
 * the text:
 *
 *   ```wakechart-directive
 *   { "outcome": "sleep", "summary": "Reviewed.", "queuedWakes": [{ "reason": "recheck", "delaySeconds": 60 }] }
 *   ```
 *
 * The block counts only where it ends the text: a model that quotes its instructions, a page or a file in what it says
 * asks for nothing. A turn without one means sleep. A malformed one means sleep too, and is recorded.
 */
import * as z from 'zod';
import { beginningOf } from '../cut-text.ts';
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
  /** Asks a client to run a tool of its own; the session waits in `requires_action` for the answer. */
  customToolRequest: z.strictObject({ name: z.string().min(1).max(200), input: z.json() }).optional(),
});

export type Directive = Readonly<z.output<typeof directive>>;
export type DirectiveInput = z.input<typeof directive>;
export type QueuedWakeRequest = Directive['queuedWakes'][number];

/**
 * What a model's turn says about what comes next. `text` is the turn's text without the block that ended it and was
 * understood.
 */
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

const LABEL = 'wakechart-directive';

/** How the block begins. */
export const DIRECTIVE_FENCE = `\`\`\`${LABEL}`;

const FENCE = /^ {0,3}(?<fence>`{3,}|~{3,})(?<label>.*)$/;

/** As Markdown has it: what stands between two fences is quoted, fences of another kind and labels included. */
interface FencedBlock {
  readonly label: string;
  readonly fence: string;
  /** Of its first line, in characters from the start of the text; of what stands in it; of its last line. */
  readonly start: number;
  readonly contentStart: number;
  contentEnd?: number;
  /** A directive that is quoted in it: its end is still to come, or is the last thing that the block says. */
  quoted: 'none' | 'open' | 'ended';
}

function readFencedBlock(text: string): DirectiveReading {
  const block = blockAtEnd(text);
  if (block === undefined) return { kind: 'none', text };
  const { label, contentStart, contentEnd, start, quoted } = block;
  if (label !== LABEL)
    return quoted !== 'none'
      ? malformed(text, 'the directive block stands inside of another block, which quotes it', text.slice(start))
      : { kind: 'none', text };
  if (contentEnd === undefined)
    return malformed(text, 'the directive block has no closing ``` line', text.slice(start));
  const json = text.slice(contentStart, contentEnd);
  if (json.length > MAX_DIRECTIVE_CHARACTERS) {
    return malformed(text, `expected at most ${MAX_DIRECTIVE_CHARACTERS} characters, received ${json.length}`, json);
  }
  const parsed = parseJson(json);
  if (!parsed.ok) return malformed(text, `the directive block is not JSON: ${parsed.reason}`, json);
  return check(parsed.value, text, text.slice(0, start).trim(), json);
}

/** The fenced block that the text ends with, closed or not. */
function blockAtEnd(text: string): FencedBlock | undefined {
  let open: FencedBlock | undefined;
  let ended: FencedBlock | undefined;
  let at = 0;
  for (const line of text.split('\n')) {
    const start = at;
    at += line.length + 1;
    if (line.trim() === '') continue;
    const { fence, label = '' } = FENCE.exec(line.trimEnd())?.groups ?? {};
    if (open === undefined) {
      ended = undefined;
      // A label of a fence of backticks has none in it: that is a piece of code in a line.
      if (fence !== undefined && !(fence.startsWith('`') && label.includes('`')))
        open = { label: label.trim(), fence, start, contentStart: at, quoted: 'none' };
      continue;
    }
    const isEnd: boolean = fence !== undefined && label === '';
    open.quoted =
      fence !== undefined && label.trim() === LABEL
        ? 'open'
        : open.quoted === 'open'
          ? isEnd
            ? 'ended'
            : 'open'
          : 'none';
    if (!isEnd || fence?.startsWith(open.fence) !== true) continue;
    ended = { ...open, contentEnd: start };
    open = undefined;
  }
  return open ?? ended;
}

function check(value: unknown, whole: string, withoutBlock: string, received: unknown): DirectiveReading {
  const result = directive.safeParse(value);
  if (result.success) return { kind: 'accepted', text: withoutBlock, directive: result.data };
  return malformed(whole, describeIssues(result.error).join('; '), received);
}

function malformed(text: string, reason: string, received: unknown): DirectiveReading {
  return { kind: 'malformed', text, reason, received: beginningOf(asText(received), MAX_REJECTED_CHARACTERS) };
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    return 'a value that is not JSON';
  }
}

function parseJson(
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : 'unreadable' };
  }
}
