/**
 * The backend for agents that speak the Agent Client Protocol over their standard streams. A run is a turn: a program
 * of its own, which runs tools of its own until its model has answered, and has us read, write and run commands where
 * it is allowed to.
 */
import type { Clock } from '../../actors/clock/clock.ts';
import { ActiveRuns, refusedRun } from '../../actors/run/active-runs.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../actors/run/agent-runtime.ts';
import { RunEvents } from '../../actors/run/run-events.ts';
import type { OnListenerError } from '../../actors/streams/listener-errors.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { providerAsks } from '../../machines/run/asks-permission.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import { DEFAULT_KILL_GRACE_MS } from '../../machines/task/task-settings.ts';
import { AcpRun, refusalOf } from './acp-run.ts';
import type { AcpNews, AcpRunLife, AcpSurroundings } from './acp-run.ts';

export type { AcpNews } from './acp-run.ts';

export const ACP_AGENT_RUNTIME_ID = 'acp';

/** Commands may take long, and an agent says nothing while they run. */
const DEFAULT_IDLE_TIMEOUT_MS = 900_000;
const DEFAULT_CANCEL_GRACE_MS = 3_000;
const DEFAULT_LINGER_MS = 2_000;

interface AcpAgentRuntimeOptions {
  readonly clock: Clock;
  /** Owns the processes of the agents and of their terminals. */
  readonly processTree: ProcessTree;
  /** Default: `acp`. */
  readonly id?: string | undefined;
  /** What programs inherit the usual variables from. Default: that of this process. */
  readonly environment?: (() => HostEnvironment) | undefined;
  /**
   * How long an agent may say nothing, in milliseconds, where the settings of the provider do not say. Default 900,000.
   */
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

export function createAcpAgentRuntime({
  id = ACP_AGENT_RUNTIME_ID,
  onListenerError,
  ...options
}: AcpAgentRuntimeOptions): AgentRuntime {
  const surroundings: AcpSurroundings = {
    clock: options.clock,
    processTree: options.processTree,
    environment: options.environment ?? (() => process.env),
    idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
    cancelGraceMs: options.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
    lingerMs: options.lingerMs ?? DEFAULT_LINGER_MS,
    killGraceMs: options.killGraceMs ?? DEFAULT_KILL_GRACE_MS,
    onNews(news) {
      try {
        options.onNews?.(news);
      } catch {
        // What a listener makes of it must not end a run.
      }
    },
  };
  const active = new ActiveRuns();
  return {
    id,
    runs: 'turn',
    // The protocol knows no message into a turn that is under way.
    messageIntake: 'next_turn',
    asksPermission: (provider, { providers }) => providerAsks(provider, providers),
    run: (params) => {
      const events = new RunEvents({
        runId: params.runId,
        clock: surroundings.clock,
        onEvent: params.onEvent,
        onListenerError,
      });
      return active.run(params, events, ({ signal }) => runOne(params, { surroundings, events, signal }));
    },
    async abort(runId) {
      active.stop(runId);
    },
    isRunActive: (runId) => active.has(runId),
  };
}

async function runOne(params: AgentRunParams, life: AcpRunLife): Promise<AgentRunResult> {
  const run = opened(params, life);
  return run instanceof AcpRun ? run.run() : refusedRun(life.events, run);
}

function opened(params: AgentRunParams, life: AcpRunLife): AcpRun | RunFailure {
  try {
    return new AcpRun(params, life);
  } catch (thrown) {
    return refusalOf(thrown);
  }
}
