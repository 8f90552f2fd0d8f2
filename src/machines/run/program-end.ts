/** What is told of the program of a backend: why it could not be started, and how it ended. */

export interface ProgramExit {
  /** Absent: a signal ended it. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** As half a sentence. @param exit absent: it lives on, and nothing more comes from it */
export function exitText(exit: ProgramExit | undefined): string {
  if (exit === undefined) return 'it closed its output and did not end';
  return exit.code === undefined ? `it was ended by ${exit.signal ?? 'a signal'}` : `it ended with exit code ${exit.code}`;
}

/** A program that cannot be started at all. The message says what is wrong, without the name of the program in front. */
export class ProgramNotStarted extends Error {
  override readonly name = 'ProgramNotStarted';
  readonly isMissing: boolean;

  constructor(message: string, { isMissing, cause }: { readonly isMissing: boolean; readonly cause: unknown }) {
    super(message, { cause });
    this.isMissing = isMissing;
  }
}

/** From what the system threw. Its code only: messages may quote the environment. */
export function programNotStarted(error: unknown): ProgramNotStarted {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return new ProgramNotStarted(START_FAILURES[String(code)] ?? 'the system refused it', { isMissing: code === 'ENOENT', cause: error });
}

const NO_RESOURCES = 'the system has no resources left';

const START_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program',
  EACCES: 'it may not be executed',
  ENOEXEC: 'it is no program of this system',
  E2BIG: 'its arguments and its environment are too long for the system',
  EAGAIN: NO_RESOURCES,
  EMFILE: NO_RESOURCES,
  ENFILE: NO_RESOURCES,
  ENOMEM: NO_RESOURCES,
};
