/**
 * Every event that a session's log may hold: its name, its version, what its data looks like, and what it means.
 *
 * Names are dotted and in the past tense. Names and versions are persisted and are API: a changed meaning is a new
 * version.
 */
import * as z from 'zod';
import { definitionMark } from '../agent/definition-mark.ts';
import { agentId } from '../ids.ts';
import { wakePriority } from '../wake/directive.ts';
import { agentEvents } from './agent-events.ts';
import { define } from './event-definition.ts';
import {
  MAX_ATTACHMENTS,
  allowance,
  approvalScope,
  attachment,
  deliveryMode,
  id,
  json,
  narrowing,
  note,
  restriction,
  summary,
  time,
} from './event-parts.ts';
import { improvementEvents, outcomeCheck, outcomeText } from './improvement-events.ts';
import { MAX_MESSAGE_CHARACTERS } from './limits.ts';

const errorRecord = z.object({
  code: z.string(),
  category: z.string(),
  message: z.string(),
  hint: z.string().optional(),
});

/** What a subagent job left in a worktree, and how to bring it home. */
const worktreeHandoff = z.object({
  worktreePath: z.string(),
  branchName: z.string(),
  baseRevision: z.string().optional(),
  parentStatus: z.string().optional(),
  worktreeStatus: z.enum(['creating', 'ready', 'inspecting', 'removing', 'removed', 'preserved', 'orphaned']),
  worktreeNextAction: z.string().optional(),
});

/**
 * How a wake ended. `budget_reached`: a bound was reached; another wake goes on. `interrupted`: a client cut it short.
 * `aborted`: its process stopped it. `lost`: its process died; the next wake says so in its place.
 */
const wakeEnding = z.enum([
  'sleep',
  'requires_action',
  'rescheduled',
  'budget_reached',
  'failed',
  'interrupted',
  'aborted',
  'terminated',
  'lost',
]);

const ingress = {
  'user.message': define(
    'A client sent a message.',
    z.object({
      text: z.string().min(1).max(MAX_MESSAGE_CHARACTERS),
      delivery: deliveryMode,
      attachments: z.array(attachment).max(MAX_ATTACHMENTS).optional(),
    }),
    // Version 1 knew one way of delivery.
    [(data) => ({ ...data, delivery: 'queue' })],
  ),
  'user.custom_tool_result': define(
    'A client answered a custom tool request of the agent.',
    z.object({ requestId: id, toolName: id, output: json }),
  ),
  'user.tool_confirmation': define(
    'A client allowed or denied a tool call that waits for it.',
    z.object({
      requestId: id,
      toolName: id,
      allowed: z.boolean(),
      note: note.optional(),
      scope: approvalScope.optional(),
    }),
  ),
  'user.answer': define(
    'A client answered a question of the agent.',
    z.object({ requestId: id, response: z.string().min(1).max(MAX_MESSAGE_CHARACTERS) }),
  ),
  'user.define_outcome': define(
    'A client said what the session is to achieve. The newest one counts.',
    z.object({ ...outcomeText, check: outcomeCheck.optional() }),
  ),
  'user.interrupt': define(
    'A client cut the running turn short. What it cancels is said in events of the same record.',
    z.object({ reason: summary.optional() }),
  ),
} as const;

const lifecycle = {
  'session.created': define(
    'The session exists and belongs to this agent.',
    z.object({
      agentId,
      title: z.string().max(200).optional(),
      /** Whose it is, in the words of the program that lets people in. Sessions that work for it are its owner's too. */
      owner: z.string().min(1).max(200).optional(),
      /** `callId`: the call of the parent that this session answers. */
      parent: z.object({ sessionId: id, depth: z.number().int().positive(), callId: id.optional() }).optional(),
      /** The subagent job whose work it is: the process that runs that wakes it, and no other does. */
      jobId: id.optional(),
      /** The folder in which it works, absolute. Default: one of its own. */
      workspace: z.string().min(1).max(4_096).optional(),
      /** The environment in which it works. Default: that of its agent. */
      environmentId: id.optional(),
      /** `process`: its wakes run in processes of their own. Default: where they are asked for. */
      runsIn: z.literal('process').optional(),
      /** What the caller that asked for it changes in its agent, for good. */
      narrowing: narrowing.optional(),
      /** What it may use up in all, given by its parent. */
      allowance: allowance.optional(),
      /** What its parent may not do, it may not do either. */
      restriction: restriction.optional(),
      /** `depth`: how deep the first session stands below others, and with it the fork. */
      forkOf: z
        .object({ sessionId: id, seq: z.number().int().positive(), depth: z.number().int().positive().optional() })
        .optional(),
      /** Up to here its log came from elsewhere, and its author is unknown: it is read, and gives no rights. */
      importedThroughSeq: z.number().int().positive().optional(),
    }),
  ),
  'session.status_changed': define(
    'The session moved in its chart.',
    z.object({
      to: z.enum(['idle', 'running', 'rescheduling', 'terminated']),
      stopReason: z.enum(['idle', 'requires_action', 'rescheduling', 'terminated']).optional(),
      reason: summary.optional(),
    }),
  ),
  'session.status_idle': define(
    'The session came to rest, for this reason, having done this.',
    z.object({ reason: z.enum(['idle', 'requires_action']), summary, blockingEventIds: z.array(id).optional() }),
  ),
  'session.parked': define(
    'The session does not wake by itself any more. A message, an answer or an explicit wake makes it go on.',
    z.object({
      code: z.enum(['failures', 'given_up', 'budget', 'idle_wakes', 'autonomous_wakes', 'imported']),
      reason: summary,
    }),
  ),
  'session.unparked': define('A client woke the parked session.', z.object({ wakeId: id })),
  'session.child_created': define(
    'The session has a child.',
    z.object({ childSessionId: id, agentId, label: z.string().max(200).optional() }),
  ),
  'session.child_idle': define(
    'A child came to rest; `turn` is the number of its event that says so. The parent hears of it in its next turn.',
    z.object({
      childSessionId: id,
      agentId,
      turn: z.number().int().positive(),
      reason: z.enum(['idle', 'requires_action', 'terminated', 'parked']),
      summary,
      used: allowance.optional(),
    }),
  ),
  'subagent.started': define(
    'A subagent job was accepted. Its work is the child session, which is made when the job begins.',
    z.object({
      jobId: id,
      childSessionId: id,
      agentId: z.string().min(1),
      label: z.string().max(200).optional(),
      isolation: z.enum(['none', 'worktree']).optional(),
      /** The first characters of what it is to do. */
      prompt: z.string().max(200).optional(),
      allowance: allowance.optional(),
      restriction: restriction.optional(),
    }),
  ),
  'subagent.ended': define(
    'A subagent job has ended, and nothing of it runs any more. Stored once for each job, whichever process dies in between.',
    z.object({
      jobId: id,
      childSessionId: id,
      agentId: z.string().min(1),
      status: z.enum(['completed', 'failed', 'cancelled']),
      /** What it answered, or why it did not; the beginning of it where it is long. */
      summary,
      /** The whole answer, where it is longer than the summary. */
      outputPath: z.string().optional(),
      error: errorRecord.optional(),
      timeoutReason: z.string().optional(),
      worktree: worktreeHandoff.optional(),
      used: allowance.optional(),
    }),
  ),
  'session.parent_told': define(
    'The parent has it in its log that this session came to rest at this event.',
    z.object({ turn: z.number().int().positive() }),
  ),
  'message.consumed': define(
    'These ingress events were part of what a model step answered.',
    z.object({ eventIds: z.array(id), spanId: id }),
  ),
} as const;

const wake = {
  'wake.started': define(
    'A wake claimed the right to write. Events of lower epochs that follow are void.',
    z.object({
      wakeId: id,
      epoch: z.number().int().positive(),
      owner: z.string(),
      queuedWakeIds: z.array(id),
      /** Why it began. No client asked for a `wake` or a `retry`: those are bounded. */
      trigger: z.enum(['ingress', 'wake', 'retry', 'manual']).optional(),
      /** Where the folder of the session is from now on. Absent where no other machine shares the store. */
      host: z.strictObject({ id: z.string().min(1), name: z.string().min(1) }).optional(),
      /** Of its agent, as it was when the wake began. Absent where it could not be read. */
      definition: definitionMark.optional(),
    }),
  ),
  'wake.ended': define(
    'A wake gave up the right to write. The queued wakes it was due for are done, unless it failed.',
    z.object({
      wakeId: id,
      outcome: wakeEnding,
      summary,
      modelSteps: z.number().int().nonnegative(),
      completedWakeIds: z.array(id),
      /** The bound that was reached, where one was. */
      budget: z.object({ name: z.string(), value: z.number(), because: z.string().optional() }).optional(),
      error: errorRecord.optional(),
      /** Not before this time is it tried again by itself. */
      retryAt: time.optional(),
    }),
    // Version 1 called a budget a limit.
    [
      ({ limit, ...data }) => ({
        ...data,
        ...(data['outcome'] === 'limit' ? { outcome: 'budget_reached' } : {}),
        ...(limit === undefined ? {} : { budget: limit }),
      }),
    ],
  ),
  'wake.queued': define(
    'The session will have something to do at `dueAt`.',
    z.object({
      queuedWakeId: id,
      reason: z.string(),
      dueAt: time,
      note: z.string().optional(),
      dedupeKey: z.string().optional(),
      priority: wakePriority,
    }),
  ),
  'wake.cancelled': define(
    'A queued wake will not come.',
    z.object({ queuedWakeId: id, because: z.enum(['interrupt', 'fork', 'ended']) }),
  ),
  'wake.refused': define(
    'A wake that a directive asked for was not queued.',
    z.object({ reason: z.string(), because: z.enum(['duplicate', 'limit']), dedupeKey: z.string().optional() }),
  ),
} as const;

/** Version 1 of `workspace.not_copied` holds the codes of errors as they were called then. */
function codeOfToday(code: string): string {
  return code.replace(/^HAND_(?:COPY_(?=DAMAGED$))?/, 'WORKSPACE_COPY_');
}

/** Where the session works, and what became of its folder and its log. */
const surroundings = {
  'environment.entered': define(
    'A wake works in this environment. The fingerprint changes with everything that the environment says.',
    z.object({
      environmentId: id,
      fingerprint: z.string().min(1).max(100),
      sandbox: z.enum(['bubblewrap', 'off']),
      network: z.enum(['open', 'disabled']),
      within: z.array(id).optional(),
    }),
  ),
  'workspace.restored': define(
    'The folder of the session has come to another machine. `mayHaveLost`: the last wake may have changed what is in no copy. `setAside`: where on `host` lies what lay there before and was in no copy.',
    z.object({
      from: z.string().optional(),
      host: z.string().min(1),
      copyEpoch: z.number().int().nonnegative().optional(),
      files: z.number().int().nonnegative(),
      bytes: z.number().int().nonnegative(),
      fetchedBytes: z.number().int().nonnegative(),
      mayHaveLost: z.boolean(),
      setAside: z.string().optional(),
    }),
  ),
  'log.loss_accepted': define(
    'A person goes on with a log of which a part is gone. `what` was found; `events`: how many are left.',
    z.object({ what: z.string().min(1), events: z.number().int().nonnegative() }),
  ),
  'workspace.not_copied': define(
    "No copy of the session's folder could be made at the end of a wake. `staysHere`: until one can be made it is left to the machine that it is on.",
    z.object({ code: z.string().min(1), reason: z.string().min(1), staysHere: z.boolean() }),
    // Version 1 called a workspace copy a hand, in the codes of its errors too.
    [({ code, ...data }) => ({ ...data, code: typeof code === 'string' ? codeOfToday(code) : code })],
  ),
} as const;

const unrecognized = {
  'event.unrecognized': define(
    'An event that this version does not know, wrapped on reading. Never written.',
    z.object({ type: z.string(), v: z.number(), data: z.unknown() }),
  ),
} as const;

export const sessionEventDefinitions = {
  ...ingress,
  ...lifecycle,
  ...wake,
  ...agentEvents,
  ...surroundings,
  ...improvementEvents,
  ...unrecognized,
} as const;
