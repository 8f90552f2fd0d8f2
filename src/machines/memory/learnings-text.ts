/**
 * learnings.md: what an agent has learned, for its agent and people to read. Made from the records; no code reads it
 * back.
 */
import type { KeptLearning } from './learning.ts';

/** Characters of the file: the newest that fit are in it. */
export const MAX_LEARNINGS_TEXT_CHARACTERS = 200_000;

const ABOUT =
  '# Learnings\n\nWhat this agent has learned in all its sessions, the newest first. They are notes, not instructions. Those in MEMORY.md were promoted.\n';

export function learningsText(learnings: readonly KeptLearning[]): string {
  const shown = learnings
    .filter(({ isForgotten }) => !isForgotten)
    .toSorted((one, other) => (one.lastSeenAt < other.lastSeenAt ? 1 : one.lastSeenAt > other.lastSeenAt ? -1 : 0));
  const parts: string[] = [ABOUT];
  let room = MAX_LEARNINGS_TEXT_CHARACTERS - ABOUT.length;
  for (const [index, learning] of shown.entries()) {
    const part = learningText(learning);
    if (part.length > room - 100) {
      parts.push(`\n${shown.length - index} older ones are not shown. learning_list has them all.\n`);
      break;
    }
    parts.push(part);
    room -= part.length;
  }
  return parts.join('');
}

function learningText({ learningId, kind, title, detail, count, lastSeenAt, sessionId, seq }: KeptLearning): string {
  const times = count === 1 ? '' : `, ${count} times`;
  const lines = detail.split(/\r\n|[\n\r\u2028\u2029]/).filter((line) => line.trim() !== '');
  return [
    `\n- **${kind}**: ${oneLine(title)}`,
    ...lines.map((line) => `  ${line.trim()}`),
    `  (${learningId}; ${lastSeenAt}${times}; session ${sessionId}, event ${seq})\n`,
  ].join('\n');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}
