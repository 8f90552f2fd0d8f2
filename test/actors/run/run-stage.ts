/**
 * A stage for runs over candidates: backends that do what a test says, a simulated clock, and everything that was
 * decided and told.
 */
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { AgentRuntimeRegistry } from '../../../src/actors/run/agent-runtime-registry.ts';
import type { AgentRunResult, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import type { CandidateHealthStore } from '../../../src/actors/run/candidate-health-store.ts';
import { executeAgentRun } from '../../../src/actors/run/execute-agent-run.ts';
import type { ExecuteAgentRunOptions, RunDecisionRecord } from '../../../src/actors/run/run-options.ts';
import type { AgentRun } from '../../../src/actors/run/start-agent-run.ts';
import { MemoryCandidateHealthStore } from '../../../src/adapters/memory/memory-candidate-health-store.ts';
import type { AuthProfile } from '../../../src/machines/run/auth-profile.ts';
import type { ModelChoice } from '../../../src/machines/run/candidate.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';
import { toldRuntime } from '../../support/told-runtime.ts';
import type { Act, ToldRuntime } from '../../support/told-runtime.ts';

export const START_MS = Date.UTC(2026, 0, 1);
export const MINUTE_MS = 60_000;

export interface RunStageOptions {
  readonly acts: Readonly<Record<string, readonly Act[]>>;
  readonly profiles?: readonly AuthProfile[];
  readonly more?: Partial<AgentRuntime>;
  readonly clock?: SimulatedClock;
  readonly candidateHealth?: CandidateHealthStore;
}

export interface RunStage {
  readonly clock: SimulatedClock;
  readonly candidateHealth: CandidateHealthStore;
  readonly runtimes: Readonly<Record<string, ToldRuntime>>;
  readonly decisions: RunDecisionRecord[];
  readonly events: AgentRunEvent[];
  start(models: readonly ModelChoice[], more?: Partial<ExecuteAgentRunOptions>): AgentRun;
  /** Lets time pass until the run is over. */
  finish(result: Promise<AgentRunResult>): Promise<AgentRunResult>;
  run(models: readonly ModelChoice[], more?: Partial<ExecuteAgentRunOptions>): Promise<AgentRunResult>;
  /** Every decision in a word or two. */
  path(): string[];
}

/** A second stage over the same clock and health of candidates stands for another process, or for the next one. */
export function runStage({
  acts,
  profiles = [],
  more: traits = {},
  clock = createSimulatedClock({ now: START_MS }),
  candidateHealth = new MemoryCandidateHealthStore({ clock }),
}: RunStageOptions): RunStage {
  const runtimes: Record<string, ToldRuntime> = Object.fromEntries(
    Object.entries(acts).map(([id, list]) => [id, toldRuntime(id, list, traits)]),
  );
  const registry = new AgentRuntimeRegistry(Object.values(runtimes));
  const decisions: RunDecisionRecord[] = [];
  const events: AgentRunEvent[] = [];
  const start: RunStage['start'] = (models, more = {}) =>
    executeAgentRun({
      request: {
        runId: 'run_1',
        sessionId: 's',
        config: {},
        workspaceDir: '/w',
        agentDir: '/a',
        modelStepsTaken: 0,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      },
      models,
      registry,
      clock,
      candidateHealth,
      random: () => 0,
      profiles: {
        list: async () => profiles,
        credential: async (profileId) => ({ profileId }),
        add: async () => undefined,
        remove: async () => false,
      },
      onDecision: async (decision) => void decisions.push(decision),
      onEvent: (event) => void events.push(event),
      onListenerError: (error) => {
        throw error;
      },
      ...more,
    });
  const finish: RunStage['finish'] = async (result) => {
    let over: AgentRunResult | undefined;
    void result.then((value) => {
      over = value;
    });
    for (let turn = 0; turn < 2_000 && over === undefined; turn += 1) {
      await clock.advance(500);
      // Health in files takes its time, which no clock knows of.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return over ?? Promise.reject(new Error('the run has not ended'));
  };
  return {
    clock,
    candidateHealth,
    runtimes,
    decisions,
    events,
    start,
    finish,
    run: (models, more) => finish(start(models, more).result),
    path: () => decisions.map(wordsFor),
  };
}

function wordsFor(decision: RunDecisionRecord): string {
  if (decision.type === 'waiting') return 'wait';
  const { provider, profile } = decision.candidate;
  return decision.type === 'selected'
    ? `try ${provider}${profile === undefined ? '' : `:${profile}`}`
    : `${decision.error.kind} ${decision.next}`;
}
