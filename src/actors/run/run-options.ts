/** What a run over candidates is given, and what it tells while it goes. */
import type { AnyActorRef } from 'xstate';
import type { Candidate, ModelChoice } from '../../machines/run/candidate.ts';
import type { RunLimits } from '../../machines/run/run-decision.ts';
import type { RunDecision } from '../../machines/run/run-attempt.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { AgentRunEvent, RunUsage } from '../../machines/run/run-output.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import type { Clock } from '../clock/clock.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime, RunResumption } from './agent-runtime.ts';
import type { AgentRuntimeRegistry } from './agent-runtime-registry.ts';
import type { AuthProfiles } from './auth-profiles.ts';
import type { CandidateHealthStore } from './candidate-health-store.ts';

type Distribute<Params> = Params extends unknown
  ? Omit<Params, 'provider' | 'model' | 'onEvent' | 'abortSignal' | 'credential' | 'resume'>
  : never;

/** What every candidate is asked; who it is and what opens its account comes with each attempt. */
export type RunRequest = Distribute<AgentRunParams>;

export interface SkippedCandidate {
  readonly candidate: Candidate;
  readonly because: string;
}

export interface FinishedAttempt {
  readonly candidate: Candidate;
  readonly result: AgentRunResult;
  /** What it said while it ran. */
  readonly said: string;
  /** What the attempts before it used. */
  readonly before: RunUsage | undefined;
}

/** A decision of a run, with its reason. */
export type RunDecisionRecord =
  | {
      readonly type: 'selected';
      readonly attempt: number;
      readonly candidate: Candidate;
      readonly backend: AgentRuntime;
      readonly because: string;
      readonly skipped: readonly SkippedCandidate[];
    }
  | {
      readonly type: 'failed';
      readonly attempt: number;
      readonly candidate: Candidate;
      readonly error: RunFailure;
      readonly next: RunDecision;
      readonly because: string;
      readonly waitMs?: number | undefined;
    }
  | {
      readonly type: 'waiting';
      readonly because: string;
      readonly waitMs: number;
      readonly skipped: readonly SkippedCandidate[];
    };

export interface ExecuteAgentRunOptions {
  readonly request: RunRequest;
  /** The models in order: the one that is wanted, then its fallbacks. At least one. */
  readonly models: readonly ModelChoice[];
  readonly registry: AgentRuntimeRegistry;
  readonly clock: Clock;
  /** Absent: backends find their credentials themselves. */
  readonly profiles?: AuthProfiles | undefined;
  /** Absent: every candidate is ready, and nothing is learned. */
  readonly candidateHealth?: CandidateHealthStore | undefined;
  readonly limits?: Partial<RunLimits> | undefined;
  /** Cuts the run short. */
  readonly signal?: AbortSignal | undefined;
  /** Gives up on a backend that is slow to stop. */
  readonly force?: AbortSignal | undefined;
  readonly onEvent?: ((event: AgentRunEvent) => void) | undefined;
  /** Awaited before the run acts on it, so that it can be stored first. What it throws is the end of the run. */
  readonly onDecision?: ((decision: RunDecisionRecord) => Promise<void>) | undefined;
  /**
   * What is to be read made smaller, asked once at most, before it is decided: it changes nothing by itself. Undefined
   * when nothing can be left out.
   */
  readonly compact?: (() => Promise<readonly ProviderMessage[] | undefined>) | undefined;
  /**
   * The backend's own session, if it has one for this conversation. Asked before each attempt. `anew`: why a new one
   * has to be begun in any case.
   */
  readonly resumption?:
    | ((candidate: Candidate, runtime: AgentRuntime, anew: string | undefined) => RunResumption | undefined)
    | undefined;
  /** What an attempt used, with what its candidate costs. Default: what the backend tells. */
  readonly usageOf?: ((attempt: FinishedAttempt) => RunUsage | undefined) | undefined;
  /**
   * How many tokens an attempt of this candidate may write, after those before it have used this much; 0 when there may
   * be none. Undefined: nothing bounds it but the request. Asked before each attempt.
   */
  readonly outputBound?: ((candidate: Candidate, used: RunUsage | undefined) => number | undefined) | undefined;
  /**
   * What the next attempt may cost, in US dollars, after those before it have used this much. Undefined: nothing bounds
   * it but the request.
   */
  readonly costBound?: ((used: RunUsage | undefined) => number | undefined) | undefined;
  /** From 0 up to 1. Default Math.random. */
  readonly random?: (() => number) | undefined;
  /** The actor under which the run's own actor lives. */
  readonly parent?: AnyActorRef | undefined;
  readonly onListenerError: OnListenerError;
}
