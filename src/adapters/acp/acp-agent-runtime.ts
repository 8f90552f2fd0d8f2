/**
 * The backend for agents that speak the Agent Client Protocol over their standard streams. A run is a turn: a program of its own, which runs
 * tools of its own until its model has answered, and has us read, write and run commands where it is allowed to.
 */
import type { Clock } from '../../actors/clock/clock.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../actors/run/agent-runtime.ts';
import { RunEvents } from '../../actors/run/run-events.ts';
import type { OnListenerError } from '../../actors/streams/listener-errors.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import { AcpRun, announceFailure, refusalOf } from './acp-run.ts';
import type { AcpNews, AcpSurroundings } from './acp-run.ts';

export type { AcpNews } from './acp-run.ts';

export const ACP_AGENT_RUNTIME_ID = 'acp';

/** Commands may take long, and an agent says nothing while they run. */
const DEFAULT_IDLE_TIMEOUT_MS = 900_000;
const DEFAULT_CANCEL_GRACE_MS = 3_000;
const DEFAULT_LINGER_MS = 2_000;
const DEFAULT_KILL_GRACE_MS = 2_000;

export interface AcpAgentRuntimeOptions {
  readonly clock: Clock;
  /** Owns the processes of the agents and of their terminals. */
  readonly processTree: ProcessTree;
  /** Default: `acp`. */
  readonly id?: string | undefined;
  /** What programs inherit the usual variables from. Default: that of this process. */
  readonly environment?: (() => HostEnvironment) | undefined;
  /** How long an agent may say nothing, in milliseconds, where the settings of the provider do not say. Default 900,000. */
  readonly idleTimeoutMs?: number | undefined;
  /** How long an agent that is asked to stop may take to end its turn by itself, in milliseconds. Default 3000. */
  readonly cancelGraceMs?: number | undefined;
  /** How long an agent that has answered may take to end by itself, in milliseconds. Default 2000. */
  readonly lingerMs?: number | undefined;
  /** Between SIGTERM and SIGKILL, in milliseconds. Default 2000. */
  readonly killGraceMs?: number | undefined;
  readonly onNews?: ((news: AcpNews) => void) | undefined;
  readonly onListenerError?: OnListenerError | undefined;
}

export function createAcpAgentRuntime({ id = ACP_AGENT_RUNTIME_ID, onListenerError, ...options }: AcpAgentRuntimeOptions): AgentRuntime {
  const surroundings: AcpSurroundings = {
    clock: options.clock,
    processTree: options.processTree,
    environment: options.environment ?? (() => process.env),
    idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
    cancelGraceMs: options.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
    lingerMs: options.lingerMs ?? DEFAULT_LINGER_MS,
    killGraceMs: options.killGraceMs ?? DEFAULT_KILL_GRACE_MS,
    onNews: options.onNews ?? (() => undefined),
  };
  const active = new Map<string, AcpRun | undefined>();
  return {
    id,
    runs: 'turn',
    // The protocol knows no message into a turn that is under way.
    messageIntake: 'next_turn',
    run: (params) => {
      const events = new RunEvents({ runId: params.runId, clock: surroundings.clock, onEvent: params.onEvent, onListenerError });
      return runOne(params, { surroundings, active, events });
    },
    async abort(runId) {
      active.get(runId)?.stop('aborted by the caller');
    },
    isRunActive: (runId) => active.has(runId),
  };
}

interface House {
  readonly surroundings: AcpSurroundings;
  /** Undefined for one whose settings cannot be used: it is on its way out. */
  readonly active: Map<string, AcpRun | undefined>;
  readonly events: RunEvents;
}

async function runOne(params: AgentRunParams, { surroundings, active, events }: House): Promise<AgentRunResult> {
  const { runId, provider, model } = params;
  const start = { stream: 'lifecycle', data: { phase: 'start', provider, model } } as const;
  if (active.has(runId)) {
    events.emit(start);
    return refused(events, { kind: 'coordination', message: `the run ${runId} is active already; another needs an id of its own, or has to wait for it to end` });
  }
  active.set(runId, undefined);
  try {
    const run = opened(params, surroundings, events);
    if (run instanceof AcpRun) active.set(runId, run);
    events.emit(start);
    return run instanceof AcpRun ? await run.run() : refused(events, run);
  } finally {
    active.delete(runId);
  }
}

function opened(params: AgentRunParams, surroundings: AcpSurroundings, events: RunEvents): AcpRun | RunFailure {
  try {
    return new AcpRun(params, surroundings, events);
  } catch (thrown) {
    return refusalOf(thrown);
  }
}

function refused(events: RunEvents, error: RunFailure): AgentRunResult {
  announceFailure(events, error);
  return { payloads: [], meta: { error, modelSteps: 0 } };
}
