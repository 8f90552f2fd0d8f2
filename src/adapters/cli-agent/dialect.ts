/**
 * What a family of command-line agents has to tell about itself, so that one runtime drives them all: arguments, lines
 * in, facts out.
 */
import type { RunPermissionAnswer, RunPermissionRequest } from '../../actors/run/agent-runtime.ts';
import type { RunFailure, RunFailureKind } from '../../machines/run/run-failure.ts';
import type { BackendToolOutcome, RunUsage } from '../../machines/run/run-output.ts';

/** One turn, as a program has to be asked for it. */
export interface CliTurn {
  /** Absent: the program's own choice. */
  readonly model: string | undefined;
  readonly instructions: string | undefined;
  readonly prompt: string;
  /** The program's own session that goes on. Checked: fit to stand among arguments. */
  readonly resumedSessionId: string | undefined;
  /** What the turn may cost, in US dollars, for programs that can be held to that. Absent: nothing bounds it. */
  readonly maxCost?: number | undefined;
  /** Absolute. */
  readonly workspaceDir: string;
  /** From the settings of the provider: what the program takes besides, as it calls it. */
  readonly options: Readonly<Record<string, unknown>>;
  /** All variables that the program gets, and those that it is told. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Whether permissions bind what the program does, for programs that may be left to a sandbox of theirs. */
  readonly permissionsBind?: boolean | undefined;
}

export interface CliDialect {
  readonly name: 'claude' | 'codex';
  /** What to do when the program has no login, as half a sentence. */
  readonly howToLogIn: string;
  /** Variables through which the program may find an account. One account given by us leaves no room for another. */
  readonly accountVariables: readonly string[];
  /** Of these, what the program is told by message instead: the commands that it runs do not see it. */
  readonly toldVariables: readonly string[];
  /** Variables by which the program would notice that it runs inside another agent, and refuse. */
  readonly nestingVariables: readonly string[];
  /** What the program gets unless the user set it otherwise. */
  readonly defaultVariables: Readonly<Record<string, string>>;
  /** The variable that takes this secret. */
  secretVariable(secret: string): string;
  /** @throws SettingsRefused when the options cannot be given to the program */
  converse(turn: CliTurn): CliConversation;
}

/** A turn under way: what is written to the program, and what its lines mean. It keeps no time and touches nothing. */
export interface CliConversation {
  readonly args: readonly string[];
  /** What is written first. */
  readonly opening: string;
  /** Whether the program listens to what is written later; else its input ends with the opening. */
  readonly keepsInputOpen: boolean;
  /**
   * What a line says; `unknown` for a message of a kind that this adapter does not know, `noise` for what is no
   * message.
   */
  read(line: string): CliReading;
  /** Asks the program to stop the turn. */
  interruption?(): string;
  /** A further message of the user. */
  furtherMessage?(text: string): string;
  answer?(askId: string, answer: RunPermissionAnswer): string;
  /** Why it may have ended without a result, as far as it said so. */
  lastComplaint(): CliFailure | undefined;
}

export type CliReading = readonly CliFact[] | 'unknown' | 'noise';

export type CliFact =
  | { readonly kind: 'session'; readonly sessionId: string }
  /** The session that was to go on is not there. Nothing of this turn counts. */
  | { readonly kind: 'session_gone'; readonly because: string }
  /** It asks its model. */
  | { readonly kind: 'step_begun' }
  /** A piece of the text. Pieces of one block belong together. */
  | { readonly kind: 'said'; readonly what: 'text' | 'reasoning'; readonly block: number; readonly text: string }
  | { readonly kind: 'tool_requested'; readonly callId: string; readonly name: string; readonly input: unknown }
  | { readonly kind: 'tool_started'; readonly callId: string }
  /** The program refuses it by its own rules; its end still comes. */
  | { readonly kind: 'tool_refused'; readonly callId: string }
  | {
      readonly kind: 'tool_ended';
      readonly callId: string;
      readonly outcome: BackendToolOutcome;
      readonly output: unknown;
    }
  | { readonly kind: 'asked'; readonly askId: string; readonly request: RunPermissionRequest }
  | { readonly kind: 'ask_withdrawn'; readonly askId: string }
  /** To be written to the program as it stands. */
  | { readonly kind: 'reply'; readonly text: string }
  | { readonly kind: 'finished'; readonly finish: CliFinish };

export interface CliFinish {
  /** Absent: it succeeded. */
  readonly failure?: CliFailure | undefined;
  readonly usage?: RunUsage | undefined;
  readonly modelSteps?: number | undefined;
  /** The whole answer, for a program that has streamed nothing of it. */
  readonly text?: string | undefined;
  /**
   * Whether another turn follows by itself, for messages that were written meanwhile. `perhaps`: the program does not
   * tell what it has read.
   */
  readonly goesOn: 'no' | 'perhaps' | 'surely';
}

/** A failure as the program tells it. What it does not name is found out from the code and the words. */
export interface CliFailure {
  readonly kind?: RunFailureKind | undefined;
  readonly message: string;
  /** A word of the program's or the provider's own. */
  readonly code?: string | undefined;
  /** Of the provider's answer, where the program passes it on. */
  readonly httpStatus?: number | undefined;
  /** When the provider wants to be asked again, in milliseconds since the epoch. */
  readonly retryAtMs?: number | undefined;
  /** Of what kind it is when nothing else tells. */
  readonly otherwise?: RunFailureKind | undefined;
  /** As `RunFailure` has it. */
  readonly retry?: RunFailure['retry'];
}

/** Settings that cannot be given to the program. The message is for people. */
export class SettingsRefused extends Error {
  override readonly name = 'SettingsRefused';
}
