/**
 * An inspector for the person at the terminal: where it is, a new address whenever they want one, and no end before
 * they interrupt.
 */
import { once } from 'node:events';
import type { Inspector } from '../../node/inspector.ts';
import type { CommandContext } from '../context.ts';
import { LineInput } from '../terminal/line-input.ts';

/** A new address that signs one browser in, and shows that session first. */
export function addressAt(inspector: Pick<Inspector, 'signInAddress'>, sessionId: string | undefined): string {
  // What comes after # is kept by browsers when they are signed in, and reaches no server.
  return `${inspector.signInAddress()}${sessionId === undefined ? '' : `#r=${sessionId}`}`;
}

export interface ShownInspector {
  /** Tells a new address. */
  readonly tell: () => Promise<void>;
  /** What holds now, in a few words. */
  readonly introduction: string;
  /** Sentences after it. */
  readonly notes?: readonly string[] | undefined;
  /** Standard input is something else: no new addresses are asked for there. */
  readonly isInputTaken?: boolean | undefined;
}

/** Resolves at the first signal, which is no failure then. */
export async function showUntilInterrupted(
  { err, interruption }: CommandContext,
  { tell, introduction, notes = [], isInputTaken = false }: ShownInspector,
): Promise<void> {
  const { signal } = interruption;
  const release = interruption.guard(() => undefined);
  interruption.expectEnd();
  try {
    const asks = !isInputTaken && process.stdin.isTTY && err.isTerminal;
    if (err.isTerminal)
      await err.line(
        err.styles.dim(
          `${introduction} until Ctrl-C.${asks ? ' Enter gives another address, each is good once.' : ''}`,
        ),
      );
    if (err.isTerminal) for (const note of notes) await err.line(note);
    if (asks) await answerWith(new LineInput(process.stdin), signal, tell);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    release();
  }
}

/** Until the input ends. */
async function answerWith(input: LineInput, signal: AbortSignal, answer: () => Promise<void>): Promise<void> {
  while ((await input.line(signal)) !== undefined) await answer();
}
