/**
 * The memory of an agent in parts that stand for themselves: what the runtime keeps in it, and what people wrote around
 * that, by headings.
 */
import { beginningOf } from '../cut-text.ts';
import { BEGIN, END } from './memory-file.ts';
import type { MemoryEntry } from './memory-entry.ts';

export interface MemorySection {
  /** The same for the same place in the memory. */
  readonly entryId: string;
  readonly heading: string;
  readonly text: string;
  /** ISO-8601. */
  readonly at?: string | undefined;
}

const HEADING = /^#{1,6}\s+(.*\S)\s*$/;
const COMMENT = /<!--[\s\S]*?-->/g;

/** @param memory `text`: all of MEMORY.md; `entries`: what of it the runtime keeps */
export function memorySectionsOf({
  text,
  entries: managed,
}: {
  readonly text: string;
  readonly entries: readonly MemoryEntry[];
}): readonly MemorySection[] {
  return [
    ...managed.map(({ learningId, title, detail, at }) => ({ entryId: learningId, heading: title, text: detail, at })),
    ...writtenSections(withoutManaged(text)),
  ];
}

/** The section may be damaged; then it is read like everything else. */
function withoutManaged(text: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  return begin === -1 || end === -1 ? text : text.slice(0, begin) + text.slice(end + END.length);
}

function writtenSections(text: string): readonly MemorySection[] {
  const sections: { heading: string; lines: string[] }[] = [{ heading: 'MEMORY.md', lines: [] }];
  for (const line of text.replaceAll(COMMENT, '').split(/\r?\n/)) {
    const heading = HEADING.exec(line)?.[1];
    if (heading !== undefined) sections.push({ heading, lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.flatMap(({ heading, lines }, index) => {
    const written = lines.join('\n').trim();
    return written === '' ? [] : [{ entryId: beginningOf(`section ${index} ${heading}`, 200), heading, text: written }];
  });
}
