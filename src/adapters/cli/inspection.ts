/** The inspector and the recording that somebody has asked for with a command: there before its work begins, gone when its runtime has ended. */
import type { Recorder } from '../../actors/inspection/recorder.ts';
import { messageOf } from '../../machines/errors.ts';
import type { Inspectable, Inspector } from '../../node-inspector.ts';
import type { CommandContext } from './context.ts';
import { exitCodeOf, failureText } from './failure.ts';
import { absolutePath } from './home.ts';
import { checkInspectionWords } from './inspect-words.ts';
import type { InspectionWords } from './inspect-words.ts';
import { addressAt, showUntilInterrupted } from './shown-inspector.ts';
import { counted, printable } from './text.ts';

export interface InspectionOptions {
  readonly words: InspectionWords;
  readonly inspected: Inspectable;
  /** What the page is headed with: the command. */
  readonly title: string;
  /** What the page is to show first. */
  readonly sessionId?: string | undefined;
}

/**
 * Attaches what was asked for.
 * @throws a usage error, RuntimeError INSPECTION_LOG_EXISTS, STORAGE_FAILED, INSPECTOR_PORT_TAKEN, INSPECTOR_CANNOT_LISTEN, INSPECTOR_PAGE_MISSING
 */
export async function openInspection(context: CommandContext, { words, inspected, title, sessionId }: InspectionOptions): Promise<Inspection> {
  checkInspectionWords(words);
  if (words.inspect === undefined && words.record === undefined) return new Inspection(context, { inspector: undefined, isHeld: false, sessionId });
  // Loaded when it is asked for: most commands need none of it.
  const { attachRecorder, createInspector } = await import('../../node-inspector.ts');
  const onProblem = (error: unknown): void => warn(context, `the inspector: ${messageOf(error)}`);
  const recorder = attachRecorder(inspected, { title, onProblem });
  if (words.record !== undefined) await record(context, { path: absolutePath(words.record), recorder, inspected });
  const port = words.inspect === true ? {} : { port: words.inspect };
  const inspector = words.inspect === undefined ? undefined : await createInspector(inspected, { recorder, title, onProblem, ...port });
  const inspection = new Inspection(context, { inspector, isHeld: words.inspectHold === true || context.err.isTerminal, sessionId });
  if (inspector !== undefined) await context.err.line(`${context.err.styles.cyan('inspect:')} ${addressAt(inspector, sessionId)}`);
  return inspection;
}

interface InspectionParts {
  readonly inspector: Inspector | undefined;
  /** Whether the inspector stays when the work is over. */
  readonly isHeld: boolean;
  readonly sessionId: string | undefined;
}

export class Inspection {
  readonly #context: CommandContext;
  readonly #parts: InspectionParts;

  constructor(context: CommandContext, parts: InspectionParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Whether somebody may look on. */
  get isOpen(): boolean {
    return this.#parts.inspector !== undefined;
  }

  /** A new address that signs one browser in, and shows that session first; undefined where nobody asked for an inspector. */
  address(sessionId?: string): string | undefined {
    const { inspector } = this.#parts;
    return inspector === undefined ? undefined : addressAt(inspector, sessionId);
  }

  /** Does the work, and stays afterwards until interrupted where somebody is there to look: a failure is told before that. @returns the exit code of the work */
  async around(work: () => Promise<number>): Promise<number> {
    const { inspector, isHeld, sessionId } = this.#parts;
    if (inspector === undefined || !isHeld) return work();
    const { err, interruption } = this.#context;
    const code = await work().catch(async (error: unknown) => {
      if (interruption.signal.aborted) throw error;
      await err.write(failureText(error, err));
      return exitCodeOf(error);
    });
    if (!interruption.signal.aborted) await showUntilInterrupted(this.#context, { tell: () => err.line(addressAt(inspector, sessionId)), introduction: 'It is over, and the inspector stays' });
    return code;
  }
}

interface Recorded {
  readonly path: string;
  readonly recorder: Recorder;
  readonly inspected: Inspectable;
}

/** Writes until the runtime has ended. A disk that takes no more costs the recording and nothing else. */
async function record(context: CommandContext, { path, recorder, inspected }: Recorded): Promise<void> {
  const { writeInspectionLog } = await import('../inspection-files/inspection-log-file.ts');
  const file = await writeInspectionLog({ path, recording: recorder, onTrouble: ({ message }) => warn(context, message) });
  inspected.inspection.onShutdown(async () => {
    const { missing } = await file.close();
    recorder.detach();
    if (missing > 0) warn(context, `the recording ${path} lacks ${counted(missing, 'record')}: more happened than could be written`);
  });
}

function warn({ err }: CommandContext, text: string): void {
  void err.push(`${err.styles.yellow('note:')} ${printable(text)}\n`);
}
