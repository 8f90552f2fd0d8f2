/** What is asked of a person, in words for the dialogs of other programs. Nothing in it is hidden, and what is cut says so. */
import { bothEnds, exactLines } from '../../machines/exact-text.ts';
import type { AskedRequest } from '../session/asked-requests.ts';

const MAX_CHARACTERS = 8_000;

export function askedText(asked: AskedRequest): string {
  switch (asked.kind) {
    case 'permission':
      return [
        `${asked.agentId} asks to run ${asked.data.toolName}`,
        ...inputLines(asked.data.input),
        ...(asked.data.cwd === undefined ? [] : [`in ${asked.data.cwd}`]),
        `It is asked because ${asked.data.because}`,
      ].join('\n');
    case 'answer':
      return `${asked.agentId} asks: ${asked.data.question}`;
    case 'custom_tool':
      return [`${asked.agentId} asks for a result of ${asked.data.name}`, ...inputLines(asked.data.input)].join('\n');
  }
}

function inputLines(input: unknown): readonly string[] {
  const text = typeof input === 'string' ? input : (JSON.stringify(input, undefined, 2) ?? '');
  return exactLines(bothEnds(text, MAX_CHARACTERS));
}
