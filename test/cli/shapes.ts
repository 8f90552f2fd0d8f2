/** What programs may rely on in the JSON of the command line. */
import { z } from 'zod';

const time = z.iso.datetime();
const id = z.uuid();

export const agentShape = z.object({
  agentId: z.string(),
  name: z.string(),
  description: z.string(),
  provider: z.string(),
  model: z.string(),
  permission: z.object({ mode: z.enum(['preapproved', 'ask', 'deny']) }),
  instructions: z.string(),
});

export const sessionShape = z.object({
  sessionId: id,
  agentId: z.string(),
  status: z.enum(['idle', 'running', 'rescheduling', 'terminated']),
  head: z.number().int().positive(),
  wakes: z.number().int().nonnegative(),
  modelSteps: z.number().int().nonnegative(),
  pending: z.array(z.object({ eventId: id, seq: z.number() })),
  queuedWakes: z.array(z.object({ queuedWakeId: z.string(), reason: z.string(), dueAt: time })),
  createdAt: time,
});

export const placedSessionShape = sessionShape.extend({ log: z.string(), workspace: z.string() });

export const receiptShape = z.strictObject({
  eventId: id,
  seq: z.number().int().positive(),
  acceptedAs: z.literal('queue'),
  readBy: z.enum(['next_wake', 'next_turn']).optional(),
  durability: z.enum(['disk', 'os']),
});

export const eventShape = z.object({
  id,
  seq: z.number().int().positive(),
  sessionId: id,
  at: time,
  type: z.string(),
  v: z.number(),
  data: z.record(z.string(), z.unknown()),
});

const outcomeShape = z.object({
  sessionId: id,
  outcome: z.string(),
  summary: z.string(),
  modelSteps: z.number(),
  status: z.string(),
  head: z.number(),
});

export const wakeRecordShape = z.union([
  z.strictObject({ event: eventShape }),
  z.strictObject({ outcome: outcomeShape }),
]);

export const taskRecordShape = z.union([
  z.strictObject({ stream: z.enum(['stdout', 'stderr']), text: z.string().min(1) }),
  z.strictObject({
    task: z.strictObject({
      id: z.string(),
      status: z.enum(['completed', 'failed', 'cancelled']),
      exitCode: z.number().optional(),
      signalCode: z.string().optional(),
      startedAt: time,
      completedAt: time,
      error: z.object({ code: z.string(), message: z.string() }).optional(),
    }),
  }),
]);

export const demoShape = z.strictObject({
  home: z.string(),
  log: z.string(),
  workspace: z.string(),
  sessionId: id,
  outcome: z.literal('sleep'),
  summary: z.string(),
  commands: z.array(z.strictObject({ command: z.string(), exitCode: z.number().nullable() })),
  permission: z.strictObject({
    toolName: z.literal('shell_run'),
    command: z.string(),
    because: z.string(),
    decision: z.literal('allowed'),
    scope: z.literal('once'),
  }),
  commit: z.object({ hash: z.string(), subject: z.string() }),
  delegation: z.strictObject({
    agentId: z.literal('scribe'),
    worktree: z.strictObject({
      worktreePath: z.string(),
      branchName: z.string(),
      worktreeStatus: z.literal('preserved'),
      worktreeNextAction: z.string(),
    }),
    commit: z.object({ hash: z.string(), subject: z.string() }),
  }),
  learned: z.strictObject({ title: z.string(), evaluation: z.literal('pass'), foundIn: id }),
  firedWakes: z.array(z.strictObject({ reason: z.string() })),
  tookMs: z.number(),
  next: z.array(z.strictObject({ does: z.string(), command: z.string() })),
});

export const worktreeShape = z.strictObject({
  id: z.string(),
  jobId: z.string(),
  key: z.string().optional(),
  status: z.enum(['absent', 'creating', 'ready', 'inspecting', 'removing', 'removed', 'preserved', 'orphaned']),
  repoRoot: z.string(),
  worktreePath: z.string(),
  branchName: z.string(),
  baseRevision: z.string().optional(),
  parentStatus: z.string().optional(),
  cwd: z.string().optional(),
  nextAction: z.string().optional(),
  createdAt: time,
  isOwned: z.boolean(),
  findings: z.array(z.strictObject({ kind: z.string(), text: z.string(), paths: z.array(z.string()).optional() })),
});
