/** The task that a fire of a schedule starts: the schedule's own request, for one slot. */
import type { BackgroundTaskRequestInput, ScheduledTaskRequest } from '../task/task-request.ts';

/** Which agent follows an `agentInstruction` whose request names none. */
const DEFAULT_SCHEDULED_AGENT_TYPE = 'default';

/** Limits in time belong to the fires: the schedule itself may live for years. */
export function fireRequestOf(
  request: ScheduledTaskRequest,
  fire: { readonly scheduleId: string; readonly slot: string },
): BackgroundTaskRequestInput {
  const { mode, parentSessionId, depth, cwd, priority } = request;
  const { timeoutMs, idleTimeoutMs, maxRuntimeMs, outputLimitBytes } = request;
  const common = {
    label: `${request.label} @ ${fire.slot}`,
    mode,
    parentSessionId,
    depth,
    cwd,
    priority,
    metadata: { ...request.metadata, scheduleId: fire.scheduleId, slot: fire.slot },
    ...present({ timeoutMs, idleTimeoutMs, maxRuntimeMs, outputLimitBytes }),
  };
  if (request.command !== undefined) {
    const { command, shell, env } = request;
    return { kind: 'process', ...common, command, ...present({ shell, env }) };
  }
  const { agentInstruction: prompt = '', agentType = DEFAULT_SCHEDULED_AGENT_TYPE } = request;
  return { kind: 'agent', ...common, agentType, prompt };
}

type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The fields that have a value: an optional field of a request is absent, not undefined. */
function present<Fields extends Record<string, unknown>>(fields: Fields): Present<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>;
}
