/**
 * The events of an agent at work: its model steps and the attempts behind them, what it said, the tool calls it made and
 * who allowed them, and what it wants to come next.
 */
import * as z from 'zod';
import { agentId } from '../ids.ts';
import { MAX_BACKEND_SESSION_ID_CHARACTERS } from '../run/backend-session-id.ts';
import { candidate } from '../run/candidate.ts';
import { runDecision } from '../run/run-attempt.ts';
import { runFailure } from '../run/run-failure.ts';
import { opaquePart, runUsage } from '../run/run-output.ts';
import { directive } from '../wake/directive.ts';
import { define } from './event-definition.ts';
import {
  allowance,
  allowedBy,
  approvalScope,
  id,
  json,
  messageIntake,
  note,
  restriction,
  skippedCandidate,
  time,
} from './event-parts.ts';
import { MAX_MESSAGE_CHARACTERS } from './limits.ts';

const toolCallOutcome = z.enum(['completed', 'failed', 'denied', 'cancelled', 'unknown']);

export const agentEvents = {
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
    'The agent asked a question; the call waits for `user.answer`.',
    z.object({ requestId: id, callId: id, question: z.string().min(1), choices: z.array(z.string()).optional() }),
  ),
  'permission.requested': define(
    'A tool call waits for a person to allow it.',
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
       * one, a person is asked again.
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
    'This request needs no answer any more.',
    z.object({ requestId: id, because: z.enum(['interrupt', 'fork', 'ended']) }),
  ),
  'agent.custom_tool_use': define(
    'The agent asked a client to run a tool. `callId`: the tool call that waits for the result; without one, the session goes on when it comes.',
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
} as const;
