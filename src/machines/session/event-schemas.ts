/**
 * Every event that a session's log may hold: its name, its version, what its data looks like, and what it means.
 *
 * Names are dotted and in the past tense. Names and versions are persisted and are API: a changed meaning is a new
 * version.
 */
import { z } from 'zod';
import { agentId } from '../ids.ts';
import { MAX_BACKEND_SESSION_ID_CHARACTERS } from '../run/backend-session-id.ts';
import { candidate } from '../run/candidate.ts';
import { runDecision } from '../run/run-attempt.ts';
import { runFailure } from '../run/run-failure.ts';
import { opaquePart, runUsage } from '../run/run-output.ts';
import { directive, wakePriority } from '../wake/directive.ts';
import { define } from './event-definition.ts';
import { improvementEvents, outcomeCheck, outcomeText } from './improvement-events.ts';
import { MAX_MESSAGE_CHARACTERS, MAX_SUMMARY_CHARACTERS } from './limits.ts';

const id = z.string().min(1).max(200);
const summary = z.string().max(MAX_SUMMARY_CHARACTERS);
const time = z.iso.datetime();

/**
 * Any JSON value. Only its absence is refused here: what is stored went through JSON, and a deep check would cost more
 * than the parsing.
 */
const json = z
  .unknown()
  .refine(
    (value) => value !== undefined && typeof value !== 'function' && typeof value !== 'symbol',
    'expected a JSON value',
  );

const errorRecord = z.object({
  code: z.string(),
  category: z.string(),
  message: z.string(),
  hint: z.string().optional(),
});

const toolCallOutcome = z.enum(['completed', 'failed', 'denied', 'cancelled', 'unknown']);

/**
 * When a message is read: `queue` after the turn that runs, `steer` by its next step, `interrupt` after the turn has
 * been cut short.
 */
export const deliveryMode = z.enum(['queue', 'steer', 'interrupt']);

export type DeliveryMode = z.output<typeof deliveryMode>;

/**
 * How far an approval reaches: this call; whatever its rules cover, in this session; the same in every session of the
 * agent.
 */
export const approvalScope = z.enum(['once', 'session', 'always']);

/**
 * A file that came with a message, by reference: `path` from the session's workspace, `sha256` in hexadecimal digits.
 */
export const attachment = z.object({
  kind: z.enum(['image', 'file']),
  name: z.string().min(1).max(200),
  mediaType: z.string().min(1).max(100),
  bytes: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  path: z.string().min(1).max(1_000),
});

export type Attachment = Readonly<z.output<typeof attachment>>;

/** Files of one message. */
export const MAX_ATTACHMENTS = 20;

const skippedCandidate = z.object({ candidate, because: z.string() });

/** When a message that comes in during a model step is read by the model. */
export const messageIntake = z.enum(['next_step', 'running', 'next_turn']);

export type MessageIntake = z.output<typeof messageIntake>;

/** Why a call may run without anybody being asked, or who was. */
const allowedBy = z.object({
  kind: z.enum(['preapproved', 'read_only', 'safe_command', 'session_rule', 'policy', 'person']),
  rule: z.string().optional(),
});

export type AllowedBy = Readonly<z.output<typeof allowedBy>>;

/** What a piece of work may use up: tokens in and out, and money in US dollars. */
const allowance = z.object({
  tokens: z.number().int().nonnegative().optional(),
  cost: z.number().nonnegative().optional(),
});

export type Allowance = Readonly<z.output<typeof allowance>>;

/**
 * What holds for a session whatever its own agent may do: no mode that allows more than this one, rules that forbid or
 * ask, and the tools that were taken from whoever it works for. `tools`: the only ones.
 */
const restriction = z.object({
  /** Environments whose bounds hold besides those of its own one. */
  environments: z.array(id).optional(),
  mode: z.enum(['preapproved', 'ask', 'deny']),
  deny: z.array(z.string()),
  ask: z.array(z.string()),
  tools: z.array(z.string()).optional(),
  withoutTools: z.array(z.string()).optional(),
  /** `none`: whatever would ask is denied, as it is for whoever it works for. */
  humans: z.literal('none').optional(),
});

export type Restriction = Readonly<z.output<typeof restriction>>;

/**
 * How a session's agent differs from its file, as whoever asked for the session decided. What its parent may not do it
 * may not do in any case.
 */
const narrowing = z.object({
  model: z.string().min(1).optional(),
  /** The only tools, by name. */
  tools: z.array(z.string()).optional(),
  withoutTools: z.array(z.string()).optional(),
  mode: z.enum(['preapproved', 'deny']).optional(),
  /** `none`: whatever would ask is denied. */
  humans: z.literal('none').optional(),
  /** Rules that allow, besides its own. */
  allow: z.array(z.string()).optional(),
});

export type Narrowing = Readonly<z.output<typeof narrowing>>;

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
 * How a wake ended. `budget_reached`: a bound was reached; another wake goes on. `interrupted`: somebody outside cut it
 * short. `aborted`: its process stopped it. `lost`: its process died; the next wake says so in its place.
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

const note = z.string().max(2_000);

const ingress = {
  'user.message': define(
    'Somebody sent a message.',
    z.object({
      text: z.string().min(1).max(MAX_MESSAGE_CHARACTERS),
      delivery: deliveryMode,
      attachments: z.array(attachment).max(MAX_ATTACHMENTS).optional(),
    }),
    // Version 1 knew one way of delivery.
    [(data) => ({ ...data, delivery: 'queue' })],
  ),
  'user.custom_tool_result': define(
    'Somebody answered a custom tool request of the agent.',
    z.object({ requestId: id, toolName: id, output: json }),
  ),
  'user.tool_confirmation': define(
    'Somebody allowed or denied a tool call that waits for it.',
    z.object({
      requestId: id,
      toolName: id,
      allowed: z.boolean(),
      note: note.optional(),
      scope: approvalScope.optional(),
    }),
  ),
  'user.answer': define(
    'Somebody answered a question of the agent.',
    z.object({ requestId: id, response: z.string().min(1).max(MAX_MESSAGE_CHARACTERS) }),
  ),
  'user.define_outcome': define(
    'Somebody said what the session is to achieve. The newest one counts.',
    z.object({ ...outcomeText, check: outcomeCheck.optional() }),
  ),
  'user.interrupt': define(
    'Somebody cut the running turn short. What it cancels is said in events of the same record.',
    z.object({ reason: summary.optional() }),
  ),
} as const;

const lifecycle = {
  'session.created': define(
    'The session exists and belongs to this agent.',
    z.object({
      agentId,
      title: z.string().max(200).optional(),
      /** `callId`: the call of the parent that this session answers. */
      parent: z.object({ sessionId: id, depth: z.number().int().positive(), callId: id.optional() }).optional(),
      /** The subagent job whose work it is: whoever runs that wakes it, and nobody else does. */
      jobId: id.optional(),
      /** The folder in which it works, absolute. Default: one of its own. */
      workspace: z.string().min(1).max(4_096).optional(),
      /** The environment in which it works. Default: that of its agent. */
      environmentId: id.optional(),
      /** `process`: its wakes run in processes of their own. Default: where they are asked for. */
      runsIn: z.literal('process').optional(),
      /** What whoever asked for it changes in its agent, for good. */
      narrowing: narrowing.optional(),
      /** What it may use up in all, given by its parent. */
      allowance: allowance.optional(),
      /** What its parent may not do, it may not do either. */
      restriction: restriction.optional(),
      /** `depth`: how deep the first session stands below others, and with it the fork. */
      forkOf: z
        .object({ sessionId: id, seq: z.number().int().positive(), depth: z.number().int().positive().optional() })
        .optional(),
      /** Up to here its log came from elsewhere, and anybody may have written it: it is read, and gives no rights. */
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
    'The session wakes nobody any more by itself. A message, an answer or an explicit wake makes it go on.',
    z.object({
      code: z.enum(['failures', 'given_up', 'budget', 'idle_wakes', 'autonomous_wakes', 'imported']),
      reason: summary,
    }),
  ),
  'session.unparked': define('Somebody woke the parked session.', z.object({ wakeId: id })),
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
    'A subagent job has ended, and nothing of it runs any more. Stored once for each job, whoever dies in between.',
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
      /** Why it began. Nobody outside asked for a `wake` or a `retry`: those are bounded. */
      trigger: z.enum(['ingress', 'wake', 'retry', 'manual']).optional(),
      /** Where the folder of the session is from now on. Absent where no other machine shares the store. */
      host: z.strictObject({ id: z.string().min(1), name: z.string().min(1) }).optional(),
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

const agent = {
  'span.started': define(
    'A model step began, or a step that writes a summary of what came before. `reserved` counts as used until it is known what was.',
    z.object({
      spanId: id,
      kind: z.enum(['model_step', 'compaction']),
      reserved: allowance.optional(),
      /** How much the model is given to read, in tokens, by estimate. */
      contextTokens: z.number().int().nonnegative().optional(),
      /** Messages that were left out, since they did not fit. */
      omittedMessages: z.number().int().nonnegative().optional(),
      /** Messages of which the model was given only a part, since they did not fit whole. */
      shortenedMessages: z.number().int().nonnegative().optional(),
      backend: z.string(),
      provider: z.string(),
      model: z.string(),
      /** The account that pays. */
      profile: z.string().optional(),
      /** Why this candidate. Absent: there was no other. */
      because: z.string().optional(),
      skipped: z.array(skippedCandidate).optional(),
      /** How a message reaches the step while it runs. Default `next_step`. */
      intake: messageIntake.optional(),
      step: z.number().int().positive(),
    }),
  ),
  'run.attempt_failed': define(
    'A candidate has failed in a model step. `next`: what was decided, and `because`, why.',
    z.object({
      spanId: id,
      attempt: z.number().int().positive(),
      candidate,
      error: runFailure,
      next: runDecision,
      because: z.string(),
      waitMs: z.number().int().nonnegative().optional(),
    }),
  ),
  'run.candidate_selected': define(
    'Another attempt of the same model step begins. `skipped`: those before it that were not tried, and why.',
    z.object({
      spanId: id,
      attempt: z.number().int().positive(),
      candidate,
      backend: z.string(),
      because: z.string(),
      skipped: z.array(skippedCandidate).optional(),
      /** How a message reaches the step from now on. Default `next_step`. */
      intake: messageIntake.optional(),
    }),
  ),
  'run.waiting': define(
    'Every candidate of a model step rests; it waits for the first that recovers.',
    z.object({
      spanId: id,
      because: z.string(),
      waitMs: z.number().int().nonnegative(),
      skipped: z.array(skippedCandidate).optional(),
    }),
  ),
  'run.context_reduced': define(
    'A model could not read as much at once. It is given less, and asked again.',
    z.object({
      spanId: id,
      contextTokens: z.number().int().nonnegative(),
      omittedMessages: z.number().int().nonnegative(),
      shortenedMessages: z.number().int().nonnegative(),
    }),
  ),
  'backend.session_bound': define(
    'The backend has a session of its own that has seen the conversation up to here. `reseeded`: why that is a new one, to which the conversation was given anew. `isCopied`: it came with the log of another session, which goes on with it.',
    z.object({
      spanId: id,
      backend: z.string(),
      provider: z.string(),
      profile: z.string().optional(),
      sessionId: z.string().min(1).max(MAX_BACKEND_SESSION_ID_CHARACTERS),
      generation: z.number().int().positive(),
      reseeded: z.string().optional(),
      isCopied: z.boolean().optional(),
    }),
  ),
  'span.completed': define(
    'A model step ended. `modelSteps` says how far it moved a script or a model on.',
    z.object({
      spanId: id,
      kind: z.enum(['model_step', 'compaction']),
      outcome: z.enum(['completed', 'failed', 'aborted', 'lost']),
      modelSteps: z.number().int().nonnegative(),
      usage: runUsage.optional(),
      error: runFailure.optional(),
    }),
  ),
  'agent.thinking': define(
    'The model reasoned. `opaque`: what only it can read, and wants to be given back.',
    z.object({ text: z.string(), spanId: id, opaque: opaquePart.optional() }),
  ),
  'agent.message': define(
    'The model said something. `partial`: it was cut short.',
    z.object({ text: z.string(), spanId: id, partial: z.boolean().optional() }),
  ),
  'agent.tool_use': define(
    'The model asked for a tool. Stored before the tool runs. `by: backend`: the backend runs it itself, while the model step goes on.',
    z.object({
      callId: id,
      name: z.string(),
      input: json,
      spanId: id,
      mayHaveStarted: z.boolean().optional(),
      by: z.literal('backend').optional(),
    }),
    // Version 1 did not say when a call began to take effect: it may have at once.
    [(data) => ({ ...data, mayHaveStarted: true })],
  ),
  'agent.tool_started': define(
    'A tool call begins to take effect. Stored before it does: a call that is said to have started is run again only if its tool is idempotent.',
    z.object({
      callId: id,
      /** From 1. Default 1. */
      attempt: z.number().int().positive().optional(),
      /** What happens to it when its process dies. Default `report`. */
      ifLost: z.enum(['report', 'retry']).optional(),
      allowedBy: allowedBy.optional(),
      /** It cannot change what the outcome of a session is judged by. */
      isReadOnly: z.literal(true).optional(),
    }),
  ),
  'agent.tool_requeued': define(
    'A call whose process died is to be run again, since its tool is idempotent.',
    z.object({ callId: id, attempt: z.number().int().positive() }),
  ),
  'agent.subflow_started': define(
    'A call was given to a child session. Stored before the child is made; the call waits for the child to come to rest.',
    z.object({
      callId: id,
      childSessionId: id,
      agentId,
      message: z.string().min(1).max(MAX_MESSAGE_CHARACTERS),
      allowance: allowance.optional(),
      restriction: restriction.optional(),
      run: z.literal('process').optional(),
      isolation: z.literal('worktree').optional(),
      workspace: z.string().optional(),
    }),
  ),
  'agent.tool_result': define(
    'A tool call ended. `unknown`: its process died while it ran; it is never run again.',
    z.object({
      callId: id,
      name: z.string(),
      outcome: toolCallOutcome,
      output: json,
      /** The whole output, where only a part of it is given to the model: a file in the session's workspace. */
      kept: z.object({ path: z.string(), characters: z.number().int().nonnegative() }).optional(),
    }),
  ),
  'agent.question_asked': define(
    'The agent asked somebody outside a question; the call waits for `user.answer`.',
    z.object({ requestId: id, callId: id, question: z.string().min(1), choices: z.array(z.string()).optional() }),
  ),
  'permission.requested': define(
    'A tool call waits for somebody to allow it.',
    z.object({
      requestId: id,
      callId: id,
      toolName: id,
      input: json,
      because: z.string(),
      /** Over the tool, the input and the folder: what is allowed is this and nothing else. */
      hash: z.string().optional(),
      /**
       * Over what shuts the call in: the environment, its sandbox, network, mounts and vaults. Where that is another
       * one, somebody is asked again.
       */
      environmentHash: z.string().optional(),
      cwd: z.string().optional(),
      /** What an approval for the session or for always would allow from then on. */
      rules: z.array(z.string()).optional(),
      /** From this time on an answer is refused, and the call is denied. */
      expiresAt: time.optional(),
    }),
  ),
  'permission.resolved': define(
    'The confirmation of a tool call was acted upon.',
    z.object({
      requestId: id,
      callId: id,
      decision: z.enum(['allowed', 'denied', 'expired']),
      note: note.optional(),
      scope: approvalScope.optional(),
      rules: z.array(z.string()).optional(),
    }),
  ),
  'request.cancelled': define(
    'Nobody has to answer this request any more.',
    z.object({ requestId: id, because: z.enum(['interrupt', 'fork', 'ended']) }),
  ),
  'agent.custom_tool_use': define(
    'The agent asked somebody outside to run a tool. `callId`: the tool call that waits for the result; without one, the session goes on when it comes.',
    z.object({ requestId: id, name: z.string(), input: json, callId: id.optional() }),
  ),
  'context.compacted': define(
    'Models read this summary in place of everything up to `throughSeq`; the log keeps it all.',
    z.object({
      throughSeq: z.number().int().positive(),
      summary: z.string().min(1),
      tokensBefore: z.number().int().nonnegative(),
      tokensAfter: z.number().int().nonnegative(),
    }),
  ),
  'tool.skipped': define(
    'A tool of the agent is not available in this wake.',
    z.object({ name: z.string(), reason: z.string() }),
  ),
  'directive.accepted': define('The model said what comes next.', z.object({ directive, spanId: id })),
  'directive.rejected': define(
    'What the model said about what comes next could not be understood.',
    z.object({ reason: z.string(), received: z.string(), spanId: id }),
  ),
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
  'hand.restored': define(
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
  'hand.not_copied': define(
    "No copy of the session's folder could be made at the end of a wake. `staysHere`: until one can be made it is left to the machine that it is on.",
    z.object({ code: z.string().min(1), reason: z.string().min(1), staysHere: z.boolean() }),
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
  ...agent,
  ...improvementEvents,
  ...unrecognized,
} as const;
