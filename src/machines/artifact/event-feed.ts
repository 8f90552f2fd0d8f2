/** The newest events of a session, one short line each. */
import type { SessionEvent } from '../session/session-event.ts';
import { MAX_CELL_CHARACTERS, oneLine } from './artifact.ts';
import type { Artifact } from './artifact.ts';
import { shownInput } from './shown-input.ts';

export interface FeedLine {
  readonly seq: number;
  /** ISO-8601. */
  readonly at: string;
  readonly type: string;
  /** The beginning of what it says. */
  readonly text: string;
}

/** What says most about an event, in this order. */
const TELLING = [
  'name',
  'toolName',
  'kind',
  'trigger',
  'to',
  'outcome',
  'verdict',
  'grade',
  'decision',
  'error',
  'title',
  'text',
  'summary',
  'question',
  'response',
  'message',
  'reason',
  'because',
  'input',
  'output',
] as const;

export function feedLine({ seq, at, type, data }: SessionEvent): FeedLine {
  const values = { ...data } as Readonly<Record<string, unknown>>;
  const name =
    typeof values['name'] === 'string'
      ? values['name']
      : typeof values['toolName'] === 'string'
        ? values['toolName']
        : '';
  const parts: string[] = [];
  let length = 0;
  for (const key of TELLING) {
    if (length > MAX_CELL_CHARACTERS || values[key] === undefined) continue;
    const words = wordsOf(key === 'input' ? shownInput(name, values[key]) : values[key]);
    parts.push(words);
    length += words.length;
  }
  return { seq, at, type, text: oneLine(parts.join(' · ')) };
}

export function wordsOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.slice(0, 4 * MAX_CELL_CHARACTERS);
}

interface ShownLine {
  readonly json: string;
  readonly item: string;
}

/** Each step lays all of them out, and few are new. */
const shownLines = new WeakMap<FeedLine, ShownLine>();

function shownLine(line: FeedLine): ShownLine {
  const known = shownLines.get(line);
  if (known !== undefined) return known;
  const { seq, at, type, text } = line;
  const shown = { json: `${JSON.stringify(line)}\n`, item: `- ${`${seq} ${at} **${type}** ${text}`.trimEnd()}\n` };
  shownLines.set(line, shown);
  return shown;
}

export function feedArtifacts(feed: readonly FeedLine[]): readonly Artifact[] {
  const shown = feed.map(shownLine);
  return [
    { name: 'events.jsonl', text: shown.map(({ json }) => json).join('') },
    {
      name: 'events.md',
      text: `# Events\n\nThe newest ${feed.length}, oldest first. The log has them whole.\n\n${shown.map(({ item }) => item).join('')}`,
    },
  ];
}
