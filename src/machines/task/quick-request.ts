/**
 * The common request, read without the schema.
 *
 * Parsing a small request with the schema costs as much time and memory as starting the task. Most requests carry only
 * plain fields, and those are read here by hand; whatever is not exactly as expected (a kind, a key or a value this
 * file does not know) is left to the schema, which accepts it or explains what is wrong. That both agree is a property
 * test: test/machines/task/quick-request.test.ts.
 */
import type { BackgroundTaskRequest } from './task-request.ts';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value.length > 0;
const isBoolean: Check = (value) => typeof value === 'boolean';
const isString: Check = (value) => typeof value === 'string';
const isDurationMs: Check = (value) => typeof value === 'number' && value >= 0 && value < Infinity;
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;

/** Fields of every kind that have no default, with the check of their schema. */
const COMMON: Readonly<Record<string, Check>> = {
  label: isText,
  cwd: isText,
  parentTaskId: isText,
  timeoutMs: isDurationMs,
  idleTimeoutMs: isDurationMs,
  maxRuntimeMs: isDurationMs,
};

const PROCESS: ReadonlyMap<string, Check> = new Map(
  Object.entries({ ...COMMON, command: isText, shell: isText, stdin: isString, inheritEnv: isBoolean }),
);
const AGENT: ReadonlyMap<string, Check> = new Map(
  Object.entries({ ...COMMON, agentType: isText, prompt: isString, model: isText }),
);
const SCHEDULED: ReadonlyMap<string, Check> = new Map(
  Object.entries({
    ...COMMON,
    scheduleId: isText,
    command: isText,
    agentInstruction: isText,
    agentType: isText,
    timezone: isText,
    shell: isText,
  }),
);

interface Loose {
  readonly [key: string]: unknown;
}

/** The complete request, or undefined when the schema has to check it. */
export function quickRequest(input: unknown): BackgroundTaskRequest | undefined {
  if (typeof input !== 'object' || input === null || Object.getPrototypeOf(input) !== Object.prototype)
    return undefined;
  const given = input as Loose;
  const { kind, mode = 'background', parentSessionId = 'local', depth = 0, priority = 0 } = given;
  if (mode !== 'background' && mode !== 'foreground') return undefined;
  if (!isText(parentSessionId) || !isCount(depth) || priority !== 0) return undefined;
  if (kind === 'process' && isText(given['command']) && isText(given['label']) && isText(given['cwd'])) {
    const { label, cwd, command } = given;
    return withTheRest(given, { kind, label, mode, parentSessionId, depth, cwd, priority, command }, PROCESS);
  }
  if (
    kind === 'agent' &&
    isText(given['agentType']) &&
    isString(given['prompt']) &&
    isText(given['label']) &&
    isText(given['cwd'])
  ) {
    const { label, cwd, agentType, prompt, permissionPolicy = 'inherit-allowlist' } = given;
    if (permissionPolicy !== 'inherit-allowlist') return undefined;
    return withTheRest(
      given,
      { kind, label, mode, parentSessionId, depth, cwd, priority, agentType, prompt, permissionPolicy },
      AGENT,
    );
  }
  if (kind === 'scheduled' && isText(given['cronExpression']) && isText(given['label']) && isText(given['cwd'])) {
    const { label, cwd, cronExpression } = given;
    // Either a command or an instruction, and exactly one of them.
    if ((given['command'] === undefined) === (given['agentInstruction'] === undefined)) return undefined;
    return withTheRest(given, { kind, label, mode, parentSessionId, depth, cwd, priority, cronExpression }, SCHEDULED);
  }
  return undefined;
}

function withTheRest(
  given: Loose,
  request: Record<string, unknown>,
  checks: ReadonlyMap<string, Check>,
): BackgroundTaskRequest | undefined {
  for (const key in given) {
    if (Object.hasOwn(request, key)) continue;
    const value = given[key];
    if (value === undefined || checks.get(key)?.(value) !== true) return undefined;
    request[key] = value;
  }
  // Every field has been checked against what its schema accepts.
  return request as unknown as BackgroundTaskRequest;
}
