/** What is asked of a person or client, in full, to stand under the line that says what kind of request it is. */
import type { SessionState } from '../../machines/session/session-state.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import type { Output } from '../terminal/output.ts';
import { callLines, inputLines, permissionLines, reachLines } from '../permission/text.ts';
import type { PermissionTextOptions } from '../permission/text.ts';
import { oneLine } from '../terminal/text.ts';
import { wrapped } from '../terminal/text-width.ts';

export interface AskedTextOptions {
  readonly out: Output;
  /** What every line begins with. */
  readonly indent: string;
  /**
   * `call`: what would run, and where. `answerable`: also how far an approval would reach. `all`: also why, and until
   * when. Default `all`.
   */
  readonly tells?: Detail | undefined;
}

type Detail = 'call' | 'answerable' | 'all';

/** Places of a line, however narrow the terminal is. */
const MIN_WIDTH = 20;

/** @param asked undefined when the event that asked cannot be found */
export function askedLines(
  asked: AskedRequest | undefined,
  { out, indent, tells = 'all' }: AskedTextOptions,
): string[] {
  const { styles, columns } = out;
  const width = Math.max(MIN_WIDTH, columns - indent.length);
  const lines =
    asked === undefined
      ? wrapped(NOT_FOUND, width).map((line) => styles.yellow(line))
      : linesOf(asked, { styles, width, agentId: asked.agentId }, tells);
  return lines.map((line) => `${indent}${line}`);
}

const NOT_FOUND = 'what it asks for cannot be read from the log; allow nothing that you have not seen';

function linesOf(asked: AskedRequest, options: PermissionTextOptions, tells: Detail): string[] {
  switch (asked.kind) {
    case 'permission':
      if (tells === 'all') return permissionLines(asked.data, options);
      return [...callLines(asked.data, options), ...(tells === 'call' ? [] : reachLines(asked.data, options))];
    case 'answer':
      return (asked.data.choices ?? []).flatMap((choice, index) =>
        wrapped(`${index + 1}. ${oneLine(choice)}`, options.width),
      );
    case 'custom_tool':
      return inputLines(asked.data.input, options);
  }
}

/** For programs: each request that waits, as it was asked. */
export function askedRecords(asked: readonly AskedRequest[]): readonly object[] {
  return asked.map(({ kind, data }) => ({ kind, ...data }));
}

const KINDS = { custom_tool: 'a result of', permission: 'permission to run', answer: 'an answer:' } as const;

/** A request on one line, without what it is about. */
export function waitText({ kind, toolName, question, requestId }: SessionState['pendingActions'][number]): string {
  return `${KINDS[kind]} ${oneLine(kind === 'answer' ? (question ?? toolName) : toolName)} (request ${requestId})`;
}
