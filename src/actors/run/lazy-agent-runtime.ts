/**
 * A backend that is loaded with its first run: most processes never run one, and what it is built on takes its time to
 * load.
 */
import type { AgentRuntime } from './agent-runtime.ts';

export interface LazyAgentRuntimeOptions extends Pick<
  AgentRuntime,
  'id' | 'runs' | 'messageIntake' | 'asksPermission'
> {
  /** Whether it takes messages while it runs. */
  readonly takesMessages: boolean;
  /** Called once, unless it fails. */
  readonly load: () => Promise<AgentRuntime>;
}

export function lazyAgentRuntime({
  id,
  runs,
  messageIntake,
  asksPermission,
  takesMessages,
  load,
}: LazyAgentRuntimeOptions): AgentRuntime {
  let loading: Promise<AgentRuntime> | undefined;
  let loaded: AgentRuntime | undefined;
  const starting = new Set<string>();
  const open = (): Promise<AgentRuntime> =>
    (loading ??= load().then(
      (runtime) => (loaded = runtime),
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    ));
  return {
    id,
    runs,
    messageIntake,
    asksPermission,
    async run(params) {
      starting.add(params.runId);
      try {
        const runtime = await open();
        // From here on the backend itself knows of it.
        const result = runtime.run(params);
        starting.delete(params.runId);
        return await result;
      } finally {
        starting.delete(params.runId);
      }
    },
    // Where it cannot be loaded, the run has ended with that.
    abort: async (runId) => (await loading?.catch(() => undefined))?.abort(runId),
    isRunActive: (runId) => starting.has(runId) || loaded?.isRunActive(runId) === true,
    ...(takesMessages
      ? {
          queueMessage: async (runId: string, message: string) =>
            (await loaded?.queueMessage?.(runId, message)) ?? false,
        }
      : {}),
  };
}
