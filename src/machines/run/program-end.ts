/** What is told of the program of a backend: why it could not be started, and how it ended. */
import { classifyRunFailure } from './classify-failure.ts';
import type { RunFailure } from './run-failure.ts';
import { triedVersionAdvice } from './tried-programs.ts';
import type { TriedProgramName } from './tried-programs.ts';

export interface ProgramExit {
  /** Absent: a signal ended it. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** As half a sentence. @param exit absent: it lives on, and nothing more comes from it */
export function exitText(exit: ProgramExit | undefined): string {
  if (exit === undefined) return 'it closed its output and did not end';
  return exit.code === undefined
    ? `it was ended by ${exit.signal ?? 'a signal'}`
    : `it ended with exit code ${exit.code}`;
}

interface EndedProgram {
  /** Absent: it lives on, and nothing more comes from it. */
  readonly exit: ProgramExit | undefined;
  readonly errorOutput: string;
  /** What it complained of before. */
  readonly complaint?: string | undefined;
  /** Whether it has printed something, and none of it was a message. */
  readonly isNotUnderstood: boolean;
  /** What it printed, where none of it was a message. */
  readonly printed?: string | undefined;
  readonly name: TriedProgramName | undefined;
}

/**
 * What it means that a program has ended before it answered. A crash, which ends without a word or by a signal, is the
 * program's own: it may be begun once more. One that printed what is no message, and was content with that, does the
 * same again, unless its words say what failed. Unrecognized words may say anything.
 */
export function endedProgramFailure(
  { exit, errorOutput, complaint = '', isNotUnderstood, printed = '', name }: EndedProgram,
  now: number,
): RunFailure {
  const failure = classifyRunFailure(
    { exitCode: exit?.code, signal: exit?.signal, stderr: errorOutput, message: `${complaint}\n${printed}`.trim() },
    { now },
  );
  if (failure.kind === 'unknown' && isNotUnderstood && exit?.code === 0)
    return { ...failure, kind: 'format', isNotUnderstood, hint: triedVersionAdvice(name) };
  const isCrash = exit?.code === undefined || (errorOutput === '' && complaint === '');
  return failure.kind === 'unknown' && isCrash ? { ...failure, kind: 'server_error', retry: 'once' } : failure;
}

/** Why: it is not there, the system has nothing left to run it with, or it is none that can be started. */
type NotStarted = 'missing' | 'no_resources' | 'refused';

/**
 * A program that cannot be started at all. The message says what is wrong, without the name of the program in front.
 */
export class ProgramNotStarted extends Error {
  override readonly name = 'ProgramNotStarted';
  readonly because: NotStarted;

  constructor(message: string, { because, cause }: { readonly because: NotStarted; readonly cause: unknown }) {
    super(message, { cause });
    this.because = because;
  }
}

/**
 * No provider was asked, and nothing is wrong with the candidate: once the program can be started, it can be asked at
 * once.
 */
export function notStartedFailure({ because, message }: ProgramNotStarted): RunFailure {
  switch (because) {
    case 'missing':
      return { kind: 'unknown', message };
    case 'no_resources':
      return {
        kind: 'server_error',
        message: `it cannot be started: ${message}`,
        isLocal: true,
        retry: 'once',
        hint: 'This machine has no processes, files or memory left for it: free some.',
      };
    case 'refused':
      return { kind: 'format', message: `it cannot be started: ${message}` };
  }
}

/** From what the system threw. Its code only: messages may quote the environment. */
export function programNotStarted(error: unknown): ProgramNotStarted {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const message = START_FAILURES[String(code)] ?? 'the system refused it';
  return new ProgramNotStarted(message, {
    because: code === 'ENOENT' ? 'missing' : message === NO_RESOURCES ? 'no_resources' : 'refused',
    cause: error,
  });
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
