/** What a caller may ask a subagent manager for, checked before anything is recorded, and the task that it becomes. */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';
import { sessionId } from '../ids.ts';
import { BackgroundTaskError } from '../task/task-error.ts';
import type { AgentTaskRequest, BackgroundTaskRequestInput } from '../task/task-request.ts';
import { parsedOrRefused } from '../task/task-validation.ts';
import { providerOf } from './worker-provider.ts';

// A provider profile is kept with its job, so it may name the variable that holds a key and nothing that looks like
// one.

/** Names of settings whose values are secrets. Not those that count tokens. */
const SECRET_NAME =
  /pass(?:word|wd|phrase)|secret|credential|authorization|bearer|cookie|(?:api|access|private|signing)[-_]?key|(?:^|[-_a-z])token$/i;

/** Values that are secrets wherever they stand: a way to log in, well-known keys, an address with a password in it. */
const SECRET_VALUE =
  /^(?:bearer|basic)\s+\S|\bsk-[\w-]{8}|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza)\w|\beyJ[\w-]{10,}\.|-----BEGIN |:\/\/[^/\s@]+@/i;

/** Nested more deeply, it is not read. */
const MAX_DEPTH = 20;

/** @throws RuntimeError PROVIDER_PROFILE_INVALID naming the place of what is wrong, never its value */
function requireNoSecrets(profile: unknown): void {
  providerOf(profile);
  const place = secretIn(profile, [], 0);
  if (place === undefined) return;
  throw new RuntimeError(
    'PROVIDER_PROFILE_INVALID',
    `provider profile is not valid: ${place.join('.') || 'its name'}: expected no secret, received what is named or looks like one`,
    {
      category: 'validation',
      hint: 'Put it into a variable that `apiKeyEnv` names, or into an account: wakechart auth add --help',
    },
  );
}

/** The way to the first of them; undefined when there is none. */
function secretIn(value: unknown, place: readonly string[], depth: number): readonly string[] | undefined {
  if (typeof value === 'string') return SECRET_VALUE.test(value) ? place : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return place;
  for (const [name, inner] of Object.entries(value)) {
    // The name itself is shown, so it must not be the secret.
    if (SECRET_VALUE.test(name)) return [...place, '(a name)'];
    const isSecret = name !== 'apiKeyEnv' && SECRET_NAME.test(name) && isFilled(inner);
    const found = isSecret
      ? [...place, name.slice(0, 100)]
      : secretIn(inner, [...place, name.slice(0, 100)], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isFilled(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || (typeof value === 'object' && value !== null);
}

const text = z.string().min(1);
const durationMs = z.number().nonnegative();

export const subagentSpawnRequest = z.strictObject({
  /** The agent: its name in the catalog. */
  type: text,
  /** What people call the job. Default: the type. */
  label: text.optional(),
  prompt: z.string(),
  mode: z.enum(['foreground', 'background']).optional(),
  /** The session it works for. Its log hears of the start and the end of the job. */
  parentSessionId: text.optional(),
  /** The job it works for; it ends with that. */
  parentJobId: text.optional(),
  depth: z.number().int().nonnegative().optional(),
  cwd: text.regex(/^\//, 'expected an absolute path'),
  /** `worktree`: in a git worktree of its own, made from the repository around `cwd`. Default `none`. */
  isolation: z.enum(['none', 'worktree']).optional(),
  permissionPolicy: z.enum(['inherit-allowlist', 'preapproved', 'prompt', 'deny']).optional(),
  model: text.optional(),
  allowedTools: z.array(z.string()).readonly().optional(),
  disallowedTools: z.array(z.string()).readonly().optional(),
  providerProfile: z.union([text, z.record(z.string(), z.unknown())]).optional(),
  priority: z.number().int().min(-1000).max(1000).optional(),
  timeoutMs: durationMs.optional(),
  idleTimeoutMs: durationMs.optional(),
  maxRuntimeMs: durationMs.optional(),
  outputLimitBytes: z.number().nonnegative().optional(),
  maxTextDeltas: z.number().int().nonnegative().optional(),
  repetitionWindow: z.number().int().nonnegative().max(1_000_000).optional(),
  repetitionThreshold: z.number().int().nonnegative().optional(),
  /** Default `process`, where the manager has a runner for it. */
  run: z.enum(['process', 'in-process']).optional(),
  /** Goes on with a session that is there, instead of making one. */
  sessionId: sessionId.optional(),
  /** Opaque to the runtime: cloned in, kept, never interpreted. */
  metadata: z.record(z.string(), z.unknown()).optional(),
});

export type SubagentSpawnRequest = z.input<typeof subagentSpawnRequest>;

/** Begins the keys of metadata that are the runtime's. */
const OWN_METADATA = 'wakechart.';

/**
 * Before anything is recorded: what is in a request is kept.
 * @throws BackgroundTaskError category `validation` saying what came and what is missing
 * @throws RuntimeError PROVIDER_PROFILE_INVALID, also for a profile that holds a secret; its value is in no error
 */
export function checkedSpawnRequest(request: unknown): SubagentSpawnRequest {
  const checked = parsedOrRefused(subagentSpawnRequest, request, {
    what: 'subagent request',
    code: 'SUBAGENT_REQUEST_INVALID',
  });
  const own = Object.keys(checked.metadata ?? {}).find((key) => key.startsWith(OWN_METADATA));
  if (own !== undefined) {
    throw new BackgroundTaskError(
      'validation',
      `invalid subagent request: metadata: expected keys of your own, received ${JSON.stringify(own.slice(0, 100))}; those that begin with "${OWN_METADATA}" are the runtime's`,
      {
        code: 'SUBAGENT_REQUEST_INVALID',
        hint: 'To go on with a session, or to say where the job runs, pass `sessionId` or `run`.',
      },
    );
  }
  if (checked.providerProfile !== undefined) requireNoSecrets(checked.providerProfile);
  return checked;
}

/** Where a job's own session stands in the metadata of its task; the rest of the metadata is the caller's. */
export const SESSION_KEY = 'wakechart.sessionId';

/** Marks a job that is one wake of its session and nothing more. */
export const WAKE_ONLY_KEY = 'wakechart.wakeOnly';

/** Marks a job whose session was there before it: what becomes of that is not the job's to decide. */
const CONTINUES_KEY = 'wakechart.continues';

/** Where a job is to run: in a process of its own, or in the one that spawned it. */
const RUN_KEY = 'wakechart.run';

/** The task that a job is. Nothing of the request is lost. `continues`: whether its session was there before. */
export function taskRequestOf(
  { type, label, parentJobId, sessionId: session, run, metadata, ...rest }: SubagentSpawnRequest,
  { continues = false } = {},
): BackgroundTaskRequestInput {
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as typeof rest;
  const own = {
    ...(session === undefined ? {} : { [SESSION_KEY]: session }),
    ...(run === undefined ? {} : { [RUN_KEY]: run }),
    ...(continues ? { [CONTINUES_KEY]: true } : {}),
  };
  const all = Object.keys(own).length === 0 ? metadata : { ...metadata, ...own };
  return {
    kind: 'agent',
    ...given,
    agentType: type,
    label: label ?? type,
    ...(parentJobId === undefined ? {} : { parentTaskId: parentJobId }),
    ...(all === undefined ? {} : { metadata: all }),
  };
}

/** The session that a job is to have, as its task says. */
export function sessionOf({ metadata }: Pick<AgentTaskRequest, 'metadata'>): string | undefined {
  const found = sessionId.safeParse(metadata?.[SESSION_KEY]);
  return found.success ? found.data : undefined;
}

export function isWakeOnly({ metadata }: Pick<AgentTaskRequest, 'metadata'>): boolean {
  return metadata?.[WAKE_ONLY_KEY] === true;
}

/** Whether the session of the job was there before it. */
export function continuesSession({ metadata }: Pick<AgentTaskRequest, 'metadata'>): boolean {
  return metadata?.[CONTINUES_KEY] === true;
}

/** Where the job is to run, as its task says. */
export function runOf({ metadata }: Pick<AgentTaskRequest, 'metadata'>): 'process' | 'in-process' | undefined {
  const run = metadata?.[RUN_KEY];
  return run === 'process' || run === 'in-process' ? run : undefined;
}
