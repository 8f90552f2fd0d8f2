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
import type { AgentRunParams, AgentRuntime, RunResumption } from './agent-runtime.ts';
import type { AgentRuntimeRegistry } from './agent-runtime-registry.ts';
import type { AuthProfiles } from './auth-profiles.ts';
import type { CandidateStandings } from './candidate-standings.ts';

type Distribute<Params> = Params extends unknown ? Omit<Params, 'provider' | 'model' | 'onEvent' | 'abortSignal' | 'credential' | 'resume'> : never;

/** What every candidate is asked; who it is and what opens its account comes with each attempt. */
export type RunRequest = Distribute<AgentRunParams>;

export interface SkippedCandidate {
  readonly candidate: Candidate;
  readonly because: string;
}

/** A decision of a run, with its reason. */
export type RunDecisionRecord =
  | { readonly type: 'selected'; readonly attempt: number; readonly candidate: Candidate; readonly backend: AgentRuntime; readonly because: string; readonly skipped: readonly SkippedCandidate[] }
  | { readonly type: 'failed'; readonly attempt: number; readonly candidate: Candidate; readonly error: RunFailure; readonly next: RunDecision; readonly because: string; readonly waitMs?: number | undefined }
  | { readonly type: 'waiting'; readonly because: string; readonly waitMs: number; readonly skipped: readonly SkippedCandidate[] };

export interface ExecuteAgentRunOptions {
  readonly request: RunRequest;
  /** The models in order: the one that is wanted, then its fallbacks. At least one. */
  readonly models: readonly ModelChoice[];
  readonly registry: AgentRuntimeRegistry;
  readonly clock: Clock;
  /** Absent: backends find their credentials themselves. */
  readonly profiles?: AuthProfiles | undefined;
  /** Absent: every candidate is ready, and nothing is learned. */
  readonly standings?: CandidateStandings | undefined;
  readonly limits?: Partial<RunLimits> | undefined;
  /** Cuts the run short. */
  readonly signal?: AbortSignal | undefined;
  /** Gives up on a backend that is slow to stop. */
  readonly force?: AbortSignal | undefined;
  readonly onEvent?: ((event: AgentRunEvent) => void) | undefined;
  /** Awaited before the run acts on it, so that it can be stored first. What it throws is the end of the run. */
  readonly onDecision?: ((decision: RunDecisionRecord) => Promise<void>) | undefined;
  /** Makes what is to be read smaller. Undefined when that cannot be. Called once at most. */
  readonly compact?: (() => Promise<readonly ProviderMessage[] | undefined>) | undefined;
  /** The backend's own session, if it has one for this conversation. */
  readonly resumption?: ((candidate: Candidate, runtime: AgentRuntime) => RunResumption | undefined) | undefined;
  /** Adds to the usage of an attempt what its candidate costs. */
  readonly priced?: ((candidate: Candidate, usage: RunUsage | undefined) => RunUsage | undefined) | undefined;
  /** From 0 up to 1. Default Math.random. */
  readonly random?: (() => number) | undefined;
  /** The actor under which the run's own actor lives. */
  readonly parent?: AnyActorRef | undefined;
  readonly onListenerError: OnListenerError;
}
