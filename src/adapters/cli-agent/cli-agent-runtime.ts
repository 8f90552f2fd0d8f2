/**
 * The backend that drives command-line agents: `claude -p` and `codex exec`, and programs that speak as they do. A run
 * is a turn: one program, which runs tools of its own until its model has answered.
 */
import { ZodError } from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import { ActiveRuns, refusedRun } from '../../actors/run/active-runs.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../actors/run/agent-runtime.ts';
import { RunEvents } from '../../actors/run/run-events.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { messageOf } from '../../machines/errors.ts';
import { providerAsks } from '../../machines/run/asks-permission.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import { describeIssues } from '../../machines/validate.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import { DEFAULT_KILL_GRACE_MS } from '../../machines/task/task-settings.ts';
import { CliAgentRun } from './cli-agent-run.ts';
import type { CliAgentNews, CliAgentRunLife, CliAgentSurroundings } from './cli-agent-run.ts';

export type { CliAgentNews } from './cli-agent-run.ts';

const CLI_AGENT_RUNTIME_ID = 'cli-agent';

/** Commands may take long, and a program says nothing while they run. */
const DEFAULT_IDLE_TIMEOUT_MS = 900_000;

interface CliAgentRuntimeOptions {
  readonly clock: Clock;
  /** Owns the processes of the programs. */
  readonly processTree: ProcessTree;
  /** Default: `cli-agent`. */
  readonly id?: string | undefined;
  /** What programs inherit the usual variables from. Default: that of this process. */
  readonly environment?: (() => HostEnvironment) | undefined;
  /**
   * How long a program may say nothing, in milliseconds, where the settings of the provider do not say. Default
   * 900,000.
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Between SIGTERM and SIGKILL, in milliseconds. Default 2000. */
  readonly killGraceMs?: number | undefined;
  readonly onNews?: ((news: CliAgentNews) => void) | undefined;
}

/** Programs of the family `codex` take no messages while they run: `queueMessage` is false for their runs. */
export function createCliAgentRuntime({ id = CLI_AGENT_RUNTIME_ID, ...options }: CliAgentRuntimeOptions): AgentRuntime {
  const surroundings: CliAgentSurroundings = {
    ...options,
    environment: options.environment ?? (() => process.env),
    idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
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
  const listening = new Map<string, CliAgentRun>();
  return {
    id,
    runs: 'turn',
    messageIntake: 'running',
    asksPermission: (provider, { providers }) => providerAsks(provider, providers),
    run: (params) => {
      // The caller that starts a run hears of listeners that throw; what a listener makes of an event is its own
      // affair.
      const events = new RunEvents({
        runId: params.runId,
        clock: surroundings.clock,
        onEvent: params.onEvent,
        onListenerError: () => undefined,
      });
      return active.run(params, events, ({ signal }) => runOne(params, { surroundings, events, signal }, listening));
    },
    async abort(runId) {
      active.stop(runId);
    },
    isRunActive: (runId) => active.has(runId),
    queueMessage: async (runId, message) => (await listening.get(runId)?.queue(message)) ?? false,
  };
}

async function runOne(
  params: AgentRunParams,
  life: CliAgentRunLife,
  listening: Map<string, CliAgentRun>,
): Promise<AgentRunResult> {
  const run = opened(params, life);
  if (!(run instanceof CliAgentRun)) return refusedRun(life.events, run);
  listening.set(params.runId, run);
  try {
    return await run.run();
  } finally {
    listening.delete(params.runId);
  }
}

function opened(params: AgentRunParams, life: CliAgentRunLife): CliAgentRun | RunFailure {
  try {
    return new CliAgentRun(params, life);
  } catch (error) {
    return {
      kind: 'format',
      message:
        error instanceof ZodError
          ? `the settings of the provider "${params.provider}" are not valid: ${describeIssues(error).join('; ')}`
          : messageOf(error),
    };
  }
}
