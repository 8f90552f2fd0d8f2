/** From what a program tells, or how it ends, to a failure of the run. */
import { classifyRunFailure } from '../../machines/run/classify-failure.ts';
import { messageLine } from '../../machines/run/failure-message.ts';
import { endedProgramFailure, exitText, notStartedFailure } from '../../machines/run/program-end.ts';
import type { ProgramExit, ProgramNotStarted } from '../../machines/run/program-end.ts';
import { howToInstall, triedVersionAdvice } from '../../machines/run/tried-programs.ts';
import type { TriedProgramName } from '../../machines/run/tried-programs.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { RunFailure, RunFailureKind } from '../../machines/run/run-failure.ts';
import type { CliDialect, CliFailure } from './dialect.ts';

export interface FailureSurroundings {
  readonly dialect: CliDialect;
  /** As the settings name it. */
  readonly command: string;
  readonly provider: string;
  readonly redaction: SecretRedaction;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A failure that the program has told of. */
export function toldFailure(told: CliFailure, surroundings: FailureSurroundings): RunFailure {
  const { message, code, httpStatus, retryAtMs, retry } = told;
  const facts = {
    message,
    ...(code === undefined ? {} : { code }),
    ...(httpStatus === undefined ? {} : { status: httpStatus }),
    ...(retryAtMs === undefined ? {} : { resetsAt: retryAtMs }),
  };
  const classified = classifyRunFailure(facts, { now: surroundings.now });
  const kind = told.kind ?? (classified.kind === 'unknown' ? (told.otherwise ?? 'unknown') : classified.kind);
  const { evidence: _words, ...known } = classified;
  const failure = told.kind === undefined ? { ...classified, kind } : { ...known, kind };
  return worded({ ...failure, ...(retry === undefined ? {} : { retry }) }, message, surroundings);
}

export interface ProgramEnd {
  /** Absent: it closed its output and did not end. */
  readonly exit: ProgramExit | undefined;
  /** Redacted. */
  readonly errorOutput: string;
  /** What it complained of before. */
  readonly complaint: CliFailure | undefined;
  /** What else is known of what it wrote, as half a sentence. */
  readonly noise: string | undefined;
  /** Whether it has printed something, and none of it was a message. */
  readonly isNotUnderstood: boolean;
  /** Which program it is, of those that were tried. */
  readonly name?: TriedProgramName | undefined;
  /** That this version of it was not tried, as half a sentence. */
  readonly untried?: string | undefined;
}

/** A program that has ended without a result. What it said goes before how it ended. */
export function endFailure(
  { exit, errorOutput, complaint, noise, isNotUnderstood, name, untried }: ProgramEnd,
  surroundings: FailureSurroundings,
): RunFailure {
  const said = complaint === undefined ? undefined : toldFailure(complaint, surroundings);
  if (said !== undefined && said.kind !== 'unknown') return said;
  // One of a version that was tried speaks our language, whatever it says now.
  const isOther = isNotUnderstood && (name === undefined || untried !== undefined);
  const printed = isNotUnderstood ? noise : undefined;
  const ended = { exit, errorOutput, complaint: complaint?.message, isNotUnderstood: isOther, printed, name };
  const failure = endedProgramFailure(ended, surroundings.now);
  const words = [
    complaint?.message,
    errorOutput === '' ? undefined : `its error output ends with: ${errorOutput}`,
    noise,
    untried,
  ].filter((part) => part !== undefined);
  const isOdd = failure.kind === 'unknown' || failure.kind === 'format';
  const hint = isOdd && untried !== undefined ? { hint: triedVersionAdvice(name) } : {};
  return worded({ ...failure, ...hint }, [`${exitText(exit)} without a result`, ...words].join('; '), surroundings);
}

/** A failure that this adapter has found by itself. */
export function ownFailure(kind: RunFailureKind, message: string, surroundings: FailureSurroundings): RunFailure {
  return worded({ kind, message }, message, surroundings);
}

/** Our own faults, such as a record that cannot be written, are no failures of a model. */
export function thrownFailure(thrown: unknown, surroundings: FailureSurroundings): RunFailure {
  const classified = classifyRunFailure(thrown, { now: surroundings.now });
  return worded(classified, classified.message, surroundings);
}

function worded(
  failure: RunFailure,
  message: string,
  { dialect, command, redaction }: FailureSurroundings,
): RunFailure {
  const advice = failure.kind === 'auth' ? ` (${dialect.howToLogIn})` : '';
  // Secrets that are known go first, by their values; then what looks like one.
  return { ...failure, message: `${command}: ${messageLine(redaction.text(message))}${advice}` };
}

/** For a program that is there and cannot be started. */
export function startFailure(thrown: ProgramNotStarted, surroundings: FailureSurroundings): RunFailure {
  const failure = notStartedFailure(thrown);
  return worded(failure, failure.message, surroundings);
}

/** For a program that is not there. */
export function missingProgram(surroundings: FailureSurroundings): RunFailure {
  const { dialect, command, provider } = surroundings;
  const message = `there is no such program; ${howToInstall(dialect.name)}, or set program.command of the provider "${provider}" to where it is`;
  // Nothing is wrong with the candidate: once the program is there, it can be asked at once.
  return ownFailure('unknown', `${message}. PATH was scanned for "${command}", the workspace left out`, surroundings);
}
