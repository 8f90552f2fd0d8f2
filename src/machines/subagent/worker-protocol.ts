/**
 * What a runtime and the process of one subagent job say to each other, checked at both ends.
 *
 *   parent ── prepare ─▶ child          loads, opens the home, answers `warm`; only for a worker that waits for a job
 *          ── keys ────▶                before `start`, where the job needs any: never by file, never in a record
 *          ── start ───▶                once; answered by `accepted`, or by `error`
 *          ── send · permission_decision · cancel ─▶
 *   child  ── ready ───▶ parent         first of all, before it has loaded anything
 *          ── sent ───────────────▶     a follow-up is stored
 *          ── text_delta · tool_start · tool_end · permission_request · permission_resolved · activity · progress ─▶
 *          ── result | error | cancelled ─▶   once; the last that counts
 *
 * `v` is the version of the words; a message without it speaks version 1. Other versions are refused by name: see
 * worker-messages.ts. What is larger than WORKER_INLINE_BYTES goes by file, see `byFile`. Only prompts and answers may
 * be long: see worker-bounds.ts.
 */
import * as z from 'zod';
import { environmentId } from '../ids.ts';
import { providerTable } from '../run/provider-settings.ts';
import { textWithoutNul } from '../text-schemas.ts';
import { WORKER_NOTE_CHARACTERS, excessOf } from './worker-bounds.ts';

export const WORKER_PROTOCOL_VERSION = 1;

/** A message that is longer, as JSON in UTF-8, goes by file. */
export const WORKER_INLINE_BYTES = 65_536;
/** What a file may hold. */
export const WORKER_FILE_BYTES = 64 * 1_048_576;
/** So many invalid messages in a row mean that nothing the other end says can be relied on. */
export const WORKER_INVALID_IN_A_ROW = 3;

const v = z.literal(WORKER_PROTOCOL_VERSION).optional();
const name = z.string().min(1).max(1_000);
const words = z.string().max(WORKER_FILE_BYTES);
const record = z.record(z.string(), z.unknown());
const durationMs = z.number().nonnegative();
/** What a worker says besides its answer: see worker-bounds.ts. */
const note = z.string().max(WORKER_NOTE_CHARACTERS);
const bounded = z.unknown().superRefine(refuseExcess);
const boundedRecord = record.superRefine(refuseExcess);

function refuseExcess(value: unknown, context: z.RefinementCtx): void {
  const excess = excessOf(value);
  if (excess !== undefined) context.addIssue({ code: 'custom', message: `${excess}, received more` });
}

const workerPermissionMode = z.enum(['inherit-allowlist', 'preapproved', 'prompt', 'deny']);

/** The whole of a task request, as its task was given it. What is in it was checked when the task was spawned. */
const jobRequest = z.looseObject({
  kind: z.literal('agent').optional(),
  agentType: name,
  prompt: words,
  cwd: z.string().min(1).max(10_000),
  parentSessionId: name.optional(),
  permissionPolicy: workerPermissionMode.optional(),
  metadata: record.optional(),
});

/** An agent that is in no catalog: the text of its file, or its parts. */
export const workerAgentDefinition = z.union([
  z.strictObject({ agentId: name.optional(), source: words }),
  z.strictObject({ agentId: name.optional(), frontmatter: record, instructions: words }),
]);

/** What the worker opens its runtime with. */
export const workerParentConfig = z.strictObject({
  /** Absolute. Absent: a home of its own, which goes with it. */
  home: z.string().min(1).max(10_000).optional(),
  /**
   * The database in which sessions live. Absent: they live in the home. It goes through the channel of the process
   * only: it may hold a password.
   */
  store: z.strictObject({ postgres: z.string().min(1).max(10_000), schema: z.string().max(100).optional() }).optional(),
  providers: providerTable.optional(),
  /** Whether a person can be asked for permission. Default `reachable`: requests go to the parent. */
  humans: z.enum(['reachable', 'none']).optional(),
  /** The environment of agents that name none. Absent: `host`. */
  environment: environmentId.optional(),
  /** A module, absolute, that gives agents, tools and backends in code. */
  config: z.string().min(1).max(10_000).optional(),
});

export const workerParentMessage = z.discriminatedUnion('type', [
  z.strictObject({ v, type: z.literal('prepare'), parentConfig: workerParentConfig }),
  /** Variables for the worker itself. Commands of its agent get none of them. */
  z.strictObject({
    v,
    type: z.literal('keys'),
    variables: z.record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable'),
      textWithoutNul,
    ),
  }),
  z.strictObject({
    v,
    type: z.literal('start'),
    jobId: name,
    request: jobRequest,
    agentDefinition: workerAgentDefinition.nullish(),
    parentConfig: workerParentConfig.nullish(),
    /** Opaque: what the caller that starts the job wants it to know of where it comes from. */
    parentContext: z.unknown().optional(),
    /** A name, or the profile itself; see worker-provider.ts. */
    providerProfile: z.union([name, record]).nullish(),
    permissionMode: workerPermissionMode.nullish(),
    logsDir: z.string().max(10_000).nullish(),
  }),
  /** With an id, the worker says what became of it: `sent`. */
  z.strictObject({ v, type: z.literal('send'), prompt: words, id: name.optional() }),
  z.strictObject({ v, type: z.literal('cancel'), reason: words.optional() }),
  z.strictObject({ v, type: z.literal('permission_decision'), requestId: name, allowed: z.boolean() }),
]);

export const workerChildMessage = z.discriminatedUnion('type', [
  /** `confirms`: it answers each `send` that has an id. */
  z.strictObject({
    v,
    type: z.literal('ready'),
    pid: z.number().int().positive().optional(),
    confirms: z.boolean().optional(),
  }),
  /** The follow-up is stored, or `error` says why not. */
  z.strictObject({ v, type: z.literal('sent'), id: name, error: note.optional() }),
  /** Loaded and its home open: a start is answered at once. Or `error` says why not; then a start tries again. */
  z.strictObject({ v, type: z.literal('warm'), error: note.optional() }),
  z.strictObject({ v, type: z.literal('accepted'), jobId: name }),
  z.strictObject({ v, type: z.literal('text_delta'), delta: note }),
  z.strictObject({
    v,
    type: z.literal('tool_start'),
    toolName: name,
    firstArg: note.optional(),
    toolTimeoutMs: durationMs.optional(),
  }),
  z.strictObject({ v, type: z.literal('tool_end'), toolName: name, success: z.boolean(), error: note.optional() }),
  z.strictObject({
    v,
    type: z.literal('permission_request'),
    requestId: name,
    toolName: name,
    toolArgs: bounded.optional(),
  }),
  z.strictObject({ v, type: z.literal('permission_resolved'), requestId: name }),
  /** It is alive, and that is all. */
  z.strictObject({ v, type: z.literal('activity') }),
  z.strictObject({ v, type: z.literal('progress'), currentAction: note.optional() }),
  z.strictObject({
    v,
    type: z.literal('result'),
    output: words,
    usage: boundedRecord.optional(),
    metadata: boundedRecord.optional(),
  }),
  z.strictObject({
    v,
    type: z.literal('error'),
    message: note,
    category: z.string().max(100).optional(),
    code: z.string().max(200).optional(),
    hint: note.optional(),
    details: boundedRecord.optional(),
  }),
  z.strictObject({ v, type: z.literal('cancelled'), reason: note.optional() }),
]);

/** Stands for a message that lies in the exchange folder of its job, under a name that cannot lead out of it. */
export const workerFileReference = z.strictObject({
  v,
  byFile: z.string().regex(/^[a-z]+-\d{1,15}\.json$/, 'expected the name of a file in the exchange folder'),
  bytes: z.number().int().nonnegative().max(WORKER_FILE_BYTES),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in hex'),
});

export type SubagentWorkerParentMessage = z.output<typeof workerParentMessage>;
export type SubagentWorkerChildMessage = z.output<typeof workerChildMessage>;
export type SubagentWorkerStartPayload = Extract<SubagentWorkerParentMessage, { type: 'start' }>;
export type WorkerParentConfig = z.output<typeof workerParentConfig>;
export type WorkerAgentDefinition = z.output<typeof workerAgentDefinition>;
export type WorkerFileReference = z.output<typeof workerFileReference>;
