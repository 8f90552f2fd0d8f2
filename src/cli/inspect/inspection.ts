/**
 * The inspector and the recording that the user has asked for with a command: there before its work begins, gone when
 * its runtime has ended.
 */
import { learnedSecrets, namedSecrets } from '../../actors/inspection/learned-secrets.ts';
import type { Recorder } from '../../actors/inspection/recorder.ts';
import type { InspectionLogFileOptions } from '../../adapters/inspection-files/inspection-log-file.ts';
import { messageOf } from '../../machines/errors.ts';
import type { Inspectable, Inspector } from '../../node/inspector.ts';
import type { CommandContext } from '../context.ts';
import { exitCodeOf, failureText } from '../failure.ts';
import { absolutePath } from '../home.ts';
import { checkInspectionWords } from './words.ts';
import type { InspectionWords } from './words.ts';
import { addressAt, showUntilInterrupted } from './shown-inspector.ts';
import { counted, printable } from '../terminal/text.ts';

export interface InspectionOptions {
  readonly words: InspectionWords;
  readonly inspected: Inspectable;
  /** What the page is headed with: the command. */
  readonly title: string;
  /** What the page is to show first. */
  readonly sessionId?: string | undefined;
  /** The command that goes on with what is answered on the page when the work is over: nothing does by itself then. */
  readonly next?: string | undefined;
}

/**
 * Attaches what was asked for.
 * @throws a usage error, RuntimeError INSPECTION_LOG_EXISTS, STORAGE_FAILED, INSPECTOR_PORT_TAKEN,
 * INSPECTOR_CANNOT_LISTEN, INSPECTOR_PAGE_MISSING
 */
export async function openInspection(
  context: CommandContext,
  { words, inspected, title, sessionId, next }: InspectionOptions,
): Promise<Inspection> {
  checkInspectionWords(words);
  if (words.inspect === undefined && words.record === undefined)
    return new Inspection(context, { inspector: undefined, isHeld: false, sessionId, after: new AfterWork(next) });
  // Loaded when it is asked for: most commands need none of it.
  const { attachRecorder, createInspector } = await import('../../node/inspector.ts');
  const onProblem = (error: unknown): void => warn(context, `the inspector: ${messageOf(error)}`);
  // Before anything is recorded: what is written to a file stays there.
  const unknown = await learnedSecrets(inspected.inspection, onProblem);
  if (words.record !== undefined && unknown.length > 0)
    warn(
      context,
      `the recording is written without knowing some secrets, which stay in it wherever they stand: ${namedSecrets(unknown)}`,
    );
  const recorder = attachRecorder(inspected, { title, onProblem });
  const port = words.inspect === true ? {} : { port: words.inspect };
  const after = new AfterWork(next);
  const inspector =
    words.inspect === undefined
      ? undefined
      : await createInspector(inspected, { recorder, title, notes: () => after.notes, onProblem, ...port });
  // After what may be refused: no file is left where nothing was recorded.
  if (words.record !== undefined) await record(context, { path: absolutePath(words.record), recorder, inspected });
  const inspection = new Inspection(context, {
    inspector,
    isHeld: words.inspectHold === true || context.err.isTerminal,
    sessionId,
    after,
  });
  if (inspector !== undefined)
    await context.err.line(`${context.err.styles.cyan('inspect:')} ${addressAt(inspector, sessionId)}`);
  return inspection;
}

interface InspectionParts {
  readonly inspector: Inspector | undefined;
  /** Whether the inspector stays when the work is over. */
  readonly isHeld: boolean;
  readonly sessionId: string | undefined;
  readonly after: AfterWork;
}

/**
 * What is to be said when the work is over and its inspector stays: a person who answers then expects that something
 * happens.
 */
class AfterWork {
  readonly #next: string | undefined;
  isOver = false;

  constructor(next: string | undefined) {
    this.#next = next;
  }

  get notes(): readonly string[] {
    return this.isOver && this.#next !== undefined
      ? [
          `The work of this command is over: what is answered is stored, and wakes no session. It goes on with: ${this.#next}`,
        ]
      : [];
  }
}

export class Inspection {
  readonly #context: CommandContext;
  readonly #parts: InspectionParts;

  constructor(context: CommandContext, parts: InspectionParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Whether there is an inspector. */
  get isOpen(): boolean {
    return this.#parts.inspector !== undefined;
  }

  /**
   * A new address that signs one browser in, and shows that session first; undefined where no inspector was asked for.
   */
  address(sessionId?: string): string | undefined {
    const { inspector } = this.#parts;
    return inspector === undefined ? undefined : addressAt(inspector, sessionId);
  }

  /**
   * Does the work, and stays afterwards until interrupted where a person is there to check: a failure is told before
   * that. @returns the exit code of the work
   */
  async around(work: () => Promise<number>): Promise<number> {
    const { inspector, isHeld, sessionId, after } = this.#parts;
    if (inspector === undefined || !isHeld) return work();
    const { err, interruption } = this.#context;
    const code = await work().catch(async (error: unknown) => {
      if (interruption.signal.aborted) throw error;
      await err.write(failureText(error, err));
      return exitCodeOf(error);
    });
    after.isOver = true;
    if (!interruption.signal.aborted)
      await showUntilInterrupted(this.#context, {
        tell: () => err.line(addressAt(inspector, sessionId)),
        introduction: 'It is over, and the inspector stays',
        notes: after.notes,
      });
    return code;
  }
}

interface Recorded {
  readonly path: string;
  readonly recorder: Recorder;
  readonly inspected: Inspectable;
}

/** Writes until the runtime has ended, the logs of sessions as long as they can be read. */
async function record(context: CommandContext, { path, recorder, inspected }: Recorded): Promise<void> {
  const { SessionLogLines } = await import('../../actors/inspection/session-log-lines.ts');
  const { sessions, inspection } = inspected;
  const beside =
    sessions === undefined
      ? undefined
      : new SessionLogLines({
          sessions,
          redact: inspection.redact,
          onProblem: (error) => warn(context, `the recording ${path}: ${messageOf(error)}`),
        });
  const file = await writtenRecording(context, { path, recording: recorder, beside });
  inspection.onRest(() => file.endBeside());
  inspected.inspection.onShutdown(async () => {
    await file.close();
    recorder.detach();
  });
}

/**
 * A file that a recording is written to until it is closed. A disk that takes no more costs the recording and nothing
 * else. @throws RuntimeError INSPECTION_LOG_EXISTS, STORAGE_FAILED
 */
export async function writtenRecording(
  context: CommandContext,
  options: Omit<InspectionLogFileOptions, 'onTrouble'>,
): Promise<{ endBeside(): Promise<void>; close(): Promise<void> }> {
  const { writeInspectionLog } = await import('../../adapters/inspection-files/inspection-log-file.ts');
  const file = await writeInspectionLog({ ...options, onTrouble: ({ message }) => warn(context, message) });
  const close = async (): Promise<void> => {
    const { missing } = await file.close();
    if (missing > 0)
      warn(
        context,
        `the recording ${options.path} lacks ${counted(missing, 'record')}: more happened than could be written`,
      );
  };
  return { endBeside: () => file.endBeside(), close };
}

function warn({ err }: CommandContext, text: string): void {
  void err.push(`${err.styles.yellow('note:')} ${printable(text)}\n`);
}
