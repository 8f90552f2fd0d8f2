/** What is folded to a line in a chat, by the number that stands behind it, and all of it again from the log. */
import type { Sessions } from '../../actors/session/sessions.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { inputLines } from '../permission/text.ts';
import { toolOutputText } from '../session/event-text.ts';
import type { Styles } from '../terminal/styles.ts';
import { printable } from '../terminal/text.ts';
import { broken } from '../terminal/text-width.ts';

interface Place {
  readonly sessionId: string;
  readonly seq: number;
}

export interface Fold {
  readonly sessionId: string;
  /** Of the events that it stands for. */
  readonly seqs: readonly number[];
}

/** Of an output that is unfolded, the last lines. */
const MAX_LINES = 400;
const INDENT = '    ';

export class Folds {
  readonly #folds: Fold[] = [];
  readonly #open = new Map<string, Place>();

  /** @returns its number, from 1 */
  add(fold: Fold): number {
    return this.#folds.push(fold);
  }

  begins(callId: string, place: Place): void {
    this.#open.set(callId, place);
  }

  ends(callId: string, { sessionId, seq }: Place): number {
    const begun = this.#open.get(callId);
    this.#open.delete(callId);
    return this.add({ sessionId, seqs: begun === undefined ? [seq] : [begun.seq, seq] });
  }

  /** Default: the last one. */
  get(number = this.#folds.length): Fold | undefined {
    return this.#folds[number - 1];
  }

  get size(): number {
    return this.#folds.length;
  }
}

export async function unfoldedLines(
  { sessionId, seqs }: Fold,
  { sessions, styles, columns }: { readonly sessions: Sessions; readonly styles: Styles; readonly columns: number },
): Promise<string[]> {
  const lines: string[] = [];
  for (const seq of seqs)
    for await (const event of sessions.events(sessionId, { from: seq, limit: 1 }))
      lines.push(...linesOf(event, { styles, width: columns - INDENT.length - 1 }));
  return lines.map((line) => `${INDENT}${line}`);
}

function linesOf(
  event: SessionEvent,
  { styles, width }: { readonly styles: Styles; readonly width: number },
): string[] {
  if (event.type === 'agent.tool_use')
    return [styles.bold(printable(event.data.name)), ...inputLines(event.data.input, { styles, width })];
  if (event.type === 'agent.thinking') return textLines(event.data.text, width).map((each) => styles.dim(each));
  if (event.type !== 'agent.tool_result') return [];
  const { kept, output } = event.data;
  const all = textLines(toolOutputText(output), width);
  return [
    ...(all.length > MAX_LINES ? [styles.yellow(`… ${all.length - MAX_LINES} lines before …`)] : []),
    ...all.slice(-MAX_LINES).map((each) => styles.dim(each)),
    ...(kept === undefined ? [] : [`all ${kept.characters} characters: ${printable(kept.path)}`]),
  ];
}

function textLines(text: string, width: number): string[] {
  return printable(text)
    .replaceAll('\t', '  ')
    .trimEnd()
    .split('\n')
    .flatMap((line) => broken(line, width));
}
