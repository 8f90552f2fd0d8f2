/** What a caller may ask the task manager for: one schema per kind, checked before anything is recorded. */
import * as z from 'zod';
import { parsedOrRefused } from './task-validation.ts';

/** Milliseconds; 0 turns the limit off. */
const durationMs = z.number().nonnegative();
const text = z.string().min(1);
const environment = z.record(z.string().regex(/^[^=\0]+$/, 'a variable name without "=" or NUL'), z.string());

const common = {
  label: text,
  mode: z.enum(['foreground', 'background']).default('background'),
  parentSessionId: text.default('local'),
  parentTaskId: text.optional(),
  /** How many tasks stand above this one; the manager refuses more than `maxDepth`. */
  depth: z.number().int().nonnegative().default(0),
  cwd: text,
  /** Higher starts first; first in, first out among equals. */
  priority: z.number().int().min(-1000).max(1000).default(0),
  timeoutMs: durationMs.optional(),
  idleTimeoutMs: durationMs.optional(),
  maxRuntimeMs: durationMs.optional(),
  /** Opaque to the runtime: cloned in, kept, never interpreted. */
  metadata: z.record(z.string(), z.unknown()).optional(),
};

const agentRequest = z.strictObject({
  kind: z.literal('agent'),
  ...common,
  agentType: text,
  prompt: z.string(),
  permissionPolicy: z.enum(['inherit-allowlist', 'preapproved', 'prompt', 'deny']).default('inherit-allowlist'),
  model: text.optional(),
  isolation: z.enum(['none', 'worktree']).optional(),
  allowedTools: z.array(z.string()).readonly().optional(),
  disallowedTools: z.array(z.string()).readonly().optional(),
  providerProfile: z.union([text, z.record(z.string(), z.unknown())]).optional(),
  outputLimitBytes: z.number().nonnegative().optional(),
  maxTextDeltas: z.number().int().nonnegative().optional(),
  repetitionWindow: z.number().int().nonnegative().max(1_000_000).optional(),
  repetitionThreshold: z.number().int().nonnegative().optional(),
});

const processRequest = z.strictObject({
  kind: z.literal('process'),
  ...common,
  command: text,
  /** Shell to run the command with `-c`; the runner's default when absent. */
  shell: text.optional(),
  env: environment.optional(),
  /** False: the command gets `env` and nothing of the runner's own environment. Default true. */
  inheritEnv: z.boolean().optional(),
  stdin: z.string().optional(),
  outputLimitBytes: z.number().nonnegative().optional(),
});

/** What to do with fire times that passed while nothing was running. */
export const catchUpPolicy = z.union([
  z.literal('none'),
  z.literal('latest'),
  z.strictObject({ all: z.number().int().positive().max(10_000) }),
]);

/** What to do when a slot comes due while the previous fire still runs. */
export const overlapPolicy = z.enum(['skip', 'queue', 'cancel-previous']);

const scheduledRequest = z
  .strictObject({
    kind: z.literal('scheduled'),
    ...common,
    /** Names the schedule across restarts, so that its missed slots are known; the task's id when absent. */
    scheduleId: text.optional(),
    cronExpression: text,
    command: text.optional(),
    agentInstruction: text.optional(),
    agentType: text.optional(),
    timezone: text.optional(),
    catchUp: catchUpPolicy.optional(),
    overlap: overlapPolicy.optional(),
    shell: text.optional(),
    env: environment.optional(),
    outputLimitBytes: z.number().nonnegative().optional(),
  })
  .refine((request) => (request.command === undefined) !== (request.agentInstruction === undefined), {
    message: 'a schedule runs either a command or an agentInstruction, exactly one of them',
  });

export const backgroundTaskRequest = z.discriminatedUnion('kind', [agentRequest, processRequest, scheduledRequest]);

/** What callers pass: fields with defaults may be left out. */
export type BackgroundTaskRequestInput = z.input<typeof backgroundTaskRequest>;
/** What runners get: complete, frozen. */
export type BackgroundTaskRequest = Readonly<z.output<typeof backgroundTaskRequest>>;
export type AgentTaskRequest = Readonly<z.output<typeof agentRequest>>;
export type ProcessTaskRequest = Readonly<z.output<typeof processRequest>>;
export type ScheduledTaskRequest = Readonly<z.output<typeof scheduledRequest>>;
export type BackgroundTaskKind = BackgroundTaskRequest['kind'];
export const BACKGROUND_TASK_KINDS = ['agent', 'process', 'scheduled'] as const satisfies readonly BackgroundTaskKind[];
export type CatchUpPolicy = z.output<typeof catchUpPolicy>;
export type OverlapPolicy = z.output<typeof overlapPolicy>;

/**
 * A complete copy of the request. @throws BackgroundTaskError category `validation` saying what came and what is
 * missing
 */
export function checkedTaskRequest(request: unknown): BackgroundTaskRequest {
  return parsedOrRefused(backgroundTaskRequest, request, { what: 'task request', code: 'TASK_REQUEST_INVALID' });
}
