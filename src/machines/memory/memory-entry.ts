/**
 * What was learned, as an entry of the managed section of MEMORY.md:
 *
 *   <!-- learning 0192f0c1-2345-7abc-8def-0123456789ab 2026-11-22T14:00:00.000Z -->
 *   - **Lesson**: The tests want CI=true
 *     Without it they wait for a terminal.
 */
import * as z from 'zod';

export const learningKind = z.enum(['lesson', 'correction', 'error']);

type LearningKind = z.output<typeof learningKind>;

export const MAX_TITLE_CHARACTERS = 120;
export const MAX_DETAIL_CHARACTERS = 400;

export interface MemoryEntry {
  readonly learningId: string;
  /** When it was learned: ISO-8601. */
  readonly at: string;
  readonly kind: LearningKind;
  /** One line. */
  readonly title: string;
  readonly detail: string;
}

const HEADING = /^<!-- learning ([A-Za-z0-9][A-Za-z0-9._:-]{0,199}) (\S{10,40}) -->$/;
const TITLE = /^- \*\*(Lesson|Correction|Error)\*\*: (\S.*)$/;
const INDENT = '  ';

const KIND_WORDS = { lesson: 'Lesson', correction: 'Correction', error: 'Error' } as const satisfies Record<
  LearningKind,
  string
>;
const KINDS: ReadonlyMap<string, LearningKind> = new Map(learningKind.options.map((kind) => [KIND_WORDS[kind], kind]));

/** The lines of an entry. What it says can neither end the section nor begin another entry. */
export function entryLines({ learningId, at, kind, title, detail }: MemoryEntry): string[] {
  const details = harmless(detail)
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return [
    `<!-- learning ${learningId} ${at} -->`,
    `- **${KIND_WORDS[kind]}**: ${harmless(title).replaceAll(/\s+/gu, ' ').trim()}`,
    ...details.map((line) => INDENT + line),
  ];
}

/** An id that an entry can carry. */
export function isEntryId(learningId: string): boolean {
  return HEADING.test(`<!-- learning ${learningId} 2000-01-01T00:00:00.000Z -->`);
}

export type EntriesReading =
  | { readonly kind: 'read'; readonly entries: readonly MemoryEntry[] }
  /** `line`: of those given, from 1. */
  | { readonly kind: 'damaged'; readonly line: number; readonly problem: string };

/** The entries that lines of a section hold. Blank lines between them do not count. */
export function readEntries(lines: readonly string[]): EntriesReading {
  const entries: MemoryEntry[] = [];
  const known = new Set<string>();
  for (let index = 0; index < lines.length;) {
    const line = lines[index]?.trimEnd() ?? '';
    if (line === '') {
      index += 1;
      continue;
    }
    const heading = HEADING.exec(line);
    const [, learningId, at] = heading ?? [];
    if (learningId === undefined || at === undefined || Number.isNaN(Date.parse(at)))
      return damaged(index, 'it is no entry: write outside of the section');
    if (known.has(learningId)) return damaged(index, `the entry ${learningId} is there twice`);
    const [, word = '', title] = TITLE.exec(lines[index + 1]?.trimEnd() ?? '') ?? [];
    const kind = KINDS.get(word);
    if (kind === undefined || title === undefined)
      return damaged(
        index + 1,
        'expected "- **Lesson**: …", "- **Correction**: …" or "- **Error**: …" after the line that names an entry',
      );
    const details = indented(lines, index + 2);
    entries.push({ learningId, at, kind, title: plain(title), detail: plain(details.join('\n')) });
    known.add(learningId);
    index += 2 + details.length;
  }
  return { kind: 'read', entries };
}

function indented(lines: readonly string[], from: number): string[] {
  const found: string[] = [];
  for (let index = from; lines[index]?.startsWith(INDENT) === true && lines[index]?.trim() !== ''; index += 1)
    found.push(lines[index]?.trim() ?? '');
  return found;
}

function damaged(index: number, problem: string): EntriesReading {
  return { kind: 'damaged', line: index + 1, problem };
}

/** Comments are how the section is found again: none may come from what was learned. */
function harmless(text: string): string {
  return text
    .replaceAll(/<(?=!-)/g, '&lt;')
    .replaceAll(/--(?=>)/g, '--&#8203;')
    .replaceAll(/(wakechart\s*):(?=\s*memory)/gi, '$1&#58;');
}

function plain(text: string): string {
  return text
    .replaceAll('--&#8203;>', '-->')
    .replaceAll('&lt;!-', '<!-')
    .replaceAll(/(wakechart\s*)&#58;(?=\s*memory)/gi, '$1:');
}
