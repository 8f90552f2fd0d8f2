/** What a worker needs, what one may ask of it, and what it tells. */
import type { AnyActorRef } from 'xstate';
import type { ErrorRecord } from '../../machines/errors.ts';
import type { Activation } from '../../machines/session/activation.ts';
import type { SessionOpening } from '../../machines/session/due-sessions.ts';
import type { SetAsidePhase } from '../../machines/session/activation-machine.ts';
import type { WorkerPhase } from '../../machines/session/worker-machine.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { JournalPorts } from './session-journal.ts';

export interface SessionWorkerPorts extends JournalPorts {
  /** One wake of a session, to its end. */
  wake(
    sessionId: string,
    options: {
      readonly signal: AbortSignal;
      readonly isAutonomous: true;
      readonly opening?: SessionOpening | undefined;
    },
  ): Promise<WakeOutcome>;
  /** Parent of the worker's actors. */
  readonly supervisor: AnyActorRef;
  readonly onListenerError: OnListenerError;
}

export interface SessionWorkerOptions {
  /** Wakes that run at the same time. Default 4. */
  readonly concurrency?: number | undefined;
  /** Wakes only sessions of this agent. */
  readonly agentId?: string | undefined;
  /** Ends when nothing is due and nothing runs. What is due later does not keep it. Default false. */
  readonly untilIdle?: boolean | undefined;
  /** How long wakes that run may go on once the worker is asked to stop, in milliseconds. Default 30,000. */
  readonly drainLimitMs?: number | undefined;
  /**
   * How long it rests at most before it checks again by itself, in milliseconds, in case it was not told: file systems
   * of a network tell no process, and a machine that slept has missed its timers. Default 60,000.
   */
  readonly restLimitMs?: number | undefined;
}

export interface StopWorkerOptions {
  /** `drain` (default) lets what runs go on to its end, up to the limit; `abort` stops it. */
  readonly running?: 'drain' | 'abort' | undefined;
  /** What the logs say about wakes that have to be stopped. */
  readonly reason?: string | undefined;
}

interface RunningWake {
  readonly sessionId: string;
  readonly agentId: string;
  /** ISO-8601. */
  readonly since: string;
  /** What it was woken for first. */
  readonly activation: Activation;
}

/** A session that is due and is left alone for now. */
interface SetAsideSession {
  readonly sessionId: string;
  readonly agentId: string;
  readonly phase: SetAsidePhase;
  /** How often in a row it came to this. */
  readonly attempts: number;
  /** When it is checked again at the latest; absent while it waits for the end of another process's wake. */
  readonly againAt?: string | undefined;
  /** Why, when a wake failed. */
  readonly reason?: ErrorRecord | undefined;
}

interface WorkerCounts {
  /** Wakes that were begun. */
  readonly begun: number;
  /** That ended as the log says, and did what they could. */
  readonly succeeded: number;
  /** That failed: as the log says, or so that it could not. */
  readonly failed: number;
  readonly nothingToDo: number;
  /** That another process was at already. */
  readonly contended: number;
  /** That were stopped with the worker. */
  readonly aborted: number;
}

/** How long after their time sessions were woken, in milliseconds. Never negative: nothing is woken early. */
interface WorkerLateness {
  readonly lastMs: number;
  readonly meanMs: number;
  readonly maxMs: number;
}

export interface SessionWorkerStatus {
  readonly phase: WorkerPhase;
  readonly concurrency: number;
  readonly running: readonly RunningWake[];
  /** Sessions that are known to be due and wait for a slot; there may be more. */
  readonly waiting: number;
  readonly setAside: readonly SetAsideSession[];
  /** Before this time nothing else falls due; absent when nothing is. ISO-8601. */
  readonly nextDueAt?: string | undefined;
  /** Whether the index is being made again from the logs. */
  readonly isRebuilding: boolean;
  /** Why it cannot see what is due; absent while it can. */
  readonly trouble?: ErrorRecord | undefined;
  readonly counts: WorkerCounts;
  readonly lateness: WorkerLateness;
}

export interface SessionWorkerSummary {
  /** `idle`: it was to end then. */
  readonly endedBecause: 'idle' | 'stopped' | 'forced';
  readonly counts: WorkerCounts;
  readonly lateness: WorkerLateness;
  /** What was due and is left to others. */
  readonly setAside: readonly SetAsideSession[];
}

interface OfSession {
  readonly sessionId: string;
  readonly agentId: string;
}

/** Why a wake came to nothing. */
type WakeFailure = Pick<ErrorRecord, 'code' | 'message' | 'details'> & { readonly hint?: string | undefined };

/** `at`: ISO-8601. */
export type SessionWorkerEvent = { readonly at: string } & (
  | (OfSession & SessionNews)
  /** Nothing runs and nothing is due that could. */
  | { readonly type: 'idle'; readonly nextDueAt?: string | undefined }
  /** It cannot see what is due, or cannot make the index again; it tries again. */
  | { readonly type: 'troubled'; readonly reason: ErrorRecord; readonly againAt: string }
);

/** After each `woke` comes exactly one of the others for the same session. */
export type SessionNews =
  | { readonly type: 'woke'; readonly activation: Activation; readonly latenessMs: number }
  /** The wake ended, and did what it could. */
  | { readonly type: 'slept'; readonly outcome: WakeOutcome; readonly tookMs: number }
  /** It had nothing to do. */
  | { readonly type: 'passed' }
  /** It failed. `outcome` when the log says so, and then also when it is tried again; else `againAt`. */
  | {
      readonly type: 'failed';
      readonly reason: WakeFailure;
      readonly outcome?: WakeOutcome | undefined;
      readonly againAt?: string | undefined;
    }
  /** The same, so often in a row that a person should check. */
  | { readonly type: 'parked'; readonly reason: WakeFailure; readonly againAt?: string | undefined }
  /** Another process is at it. `reason`: or is to be: one that has its folder, or its agent. */
  | { readonly type: 'contended'; readonly reason?: WakeFailure | undefined };
