/** What a session's log adds up to: one immutable value, folded from events by session-fold.ts. */
import type { ErrorRecord } from '../errors.ts';
import type { Activation } from './activation.ts';
import type { Allowance, DeliveryMode, Narrowing, Restriction, approvalScope, messageIntake } from './event-parts.ts';
import type { SessionEventData } from './session-event.ts';
import type { SessionStatus, SessionStopReason } from './session-machine.ts';
import type { Directive } from '../wake/directive.ts';
import type * as z from 'zod';

type ApprovalScope = z.output<typeof approvalScope>;

/** An ingress event that nothing has acted upon yet: no model step has read it, no call has gone on with it. */
export interface PendingIngress {
  readonly eventId: string;
  readonly seq: number;
  /** ISO-8601. */
  readonly at: string;
  readonly type: PendingIngressType;
  readonly delivery: DeliveryMode;
  /** The tool call whose answer it is: the call goes on with it, and no model reads it but as the call's result. */
  readonly callId?: string | undefined;
}

type PendingIngressType =
  | 'user.message'
  | 'user.custom_tool_result'
  | 'user.tool_confirmation'
  | 'user.answer'
  | 'user.define_outcome'
  | 'session.child_idle'
  | 'subagent.ended';

/** A request to a person or client. The session rests in `requires_action` while there is one. */
export interface PendingAction {
  readonly requestId: string;
  /** The event that asked. */
  readonly eventId: string;
  readonly kind: 'custom_tool' | 'permission' | 'answer';
  /** The tool that is asked for; `ask_human` for a question. */
  readonly toolName: string;
  /** The tool call that waits for it; absent for what a directive asked for. */
  readonly callId?: string | undefined;
  /** The question, in words. */
  readonly question?: string | undefined;
  /** Of a permission: what an approval for more than once would allow. */
  readonly rules?: readonly string[] | undefined;
  /** ISO-8601; from then on an answer is refused. */
  readonly expiresAt?: string | undefined;
}

/** A tool call without a result. */
export interface OpenToolCall {
  readonly callId: string;
  readonly name: string;
  /** Of the event that asked for it, which holds its input. */
  readonly seq: number;
  /**
   * `waiting` for a person or client or for a child, whose answer makes it `answered`. Only one that has `started` can
   * have taken effect.
   */
  readonly phase: 'requested' | 'waiting' | 'answered' | 'started';
  /** What it waited for, and what came. */
  readonly request?: CallRequest | undefined;
  readonly answer?: CallAnswer | undefined;
  /** The backend runs it itself; the runtime does not. */
  readonly by?: 'backend' | undefined;
  /** How often it has been started; its first time when absent. */
  readonly attempt?: number | undefined;
  /** Whether it is run again by itself when its process dies. */
  readonly ifLost?: 'report' | 'retry' | undefined;
}

/** What a call waits for. */
export type CallRequest =
  | {
      readonly kind: 'permission';
      readonly requestId: string;
      readonly hash?: string | undefined;
      readonly environmentHash?: string | undefined;
      readonly rules?: readonly string[] | undefined;
      readonly expiresAt?: string | undefined;
    }
  | { readonly kind: 'answer' | 'custom_tool'; readonly requestId: string }
  | {
      readonly kind: 'subflow';
      readonly childSessionId: string;
      readonly agentId: string;
      readonly seq: number;
      readonly allowance?: Allowance | undefined;
      readonly used: Allowance;
      readonly isolation?: 'worktree' | undefined;
    };

/** `eventId`, `seq`: the event that holds it. */
type CallAnswer =
  | {
      readonly kind: 'permission';
      readonly eventId: string;
      readonly allowed: boolean;
      readonly note?: string | undefined;
      readonly scope?: ApprovalScope | undefined;
    }
  | { readonly kind: 'answer'; readonly eventId: string; readonly response: string }
  | { readonly kind: 'custom_tool'; readonly eventId: string; readonly seq: number }
  | {
      readonly kind: 'subflow';
      readonly eventId: string;
      readonly reason: 'idle' | 'terminated' | 'parked';
      readonly summary: string;
    };

interface FailedCall {
  readonly callId: string;
  readonly name: string;
  /** Of a command that ran to its end, other than 0, or the signal that ended it. */
  readonly exitCode?: number | undefined;
  readonly signalCode?: string | undefined;
}

interface QueuedWake extends SessionEventData<'wake.queued'> {
  readonly eventId: string;
}

export interface OpenWake {
  readonly wakeId: string;
  readonly epoch: number;
  readonly owner: string;
  /** Where the folder of the session is since it began. */
  readonly host?: SessionEventData<'wake.started'>['host'];
  /** Under which definition of its agent it runs. */
  readonly definition?: SessionEventData<'wake.started'>['definition'];
  readonly startedAt: string;
  readonly trigger: WakeTrigger;
  /** The queued wakes that this one was due for. */
  readonly queuedWakeIds: readonly string[];
  /** What made it due. Stays due until the wake has ended, so that another process goes on if it dies. */
  readonly causes: readonly Activation[];
  readonly toolCalls: number;
  /** Model steps that completed. */
  readonly steps: number;
  /** Input and output tokens of its model steps, as far as the provider told. */
  readonly tokens: number;
  /** What they cost, in US dollars, as far as it is known. */
  readonly cost: number;
  /** A client cut it short. */
  readonly interruption?: { readonly seq: number; readonly reason?: string | undefined } | undefined;
}

type WakeTrigger = NonNullable<SessionEventData<'wake.started'>['trigger']>;

interface LastWake {
  readonly wakeId: string;
  readonly epoch: number;
  readonly endedAt: string;
  readonly outcome: SessionEventData<'wake.ended'>['outcome'];
  readonly error?: SessionEventData<'wake.ended'>['error'];
  /** Nothing is tried again by itself before this time. */
  readonly retryAt?: string | undefined;
  /** As of `OpenWake`. */
  readonly host?: SessionEventData<'wake.started'>['host'];
  /** As of `OpenWake`. */
  readonly definition?: SessionEventData<'wake.started'>['definition'];
  /** Its end was said by another process: what it did last was not copied. */
  readonly hasDied?: true | undefined;
}

interface BackendSession extends Omit<SessionEventData<'backend.session_bound'>, 'reseeded' | 'isCopied'> {
  /** Whether it has seen all that models have said since. One that has not is not resumed. */
  readonly isCurrent: boolean;
}

interface ChildSession {
  readonly sessionId: string;
  readonly agentId: string;
  readonly label?: string | undefined;
  /** How it last came to rest. */
  readonly rest?: Pick<SessionEventData<'session.child_idle'>, 'turn' | 'reason' | 'summary'> | undefined;
}

/** `seq`: the event that holds it. */
interface LearningToKeep extends Pick<SessionEventData<'learning.captured'>, 'learningId' | 'promoteToMemory'> {
  readonly seq: number;
}

/** `seq`: the event by which the session has learned it. */
export type LearningToPromote = Pick<LearningToKeep, 'learningId' | 'seq'>;

/** A subagent job that has not ended. */
type OpenJob = Pick<
  SessionEventData<'subagent.started'>,
  'jobId' | 'childSessionId' | 'agentId' | 'label' | 'allowance' | 'restriction'
>;

export interface SessionState {
  readonly sessionId: string;
  readonly agentId: string;
  readonly title?: string | undefined;
  /** Whose it is, as the program said that made it; of a session that works for another, that one's owner. */
  readonly owner?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly parent?: SessionEventData<'session.created'>['parent'];
  readonly forkOf?: SessionEventData<'session.created'>['forkOf'];
  /** Up to here its log came from elsewhere: nothing of that part allows, evaluates or promotes anything. */
  readonly importedThroughSeq?: number | undefined;
  /** The subagent job whose work it is. */
  readonly jobId?: string | undefined;
  /** The folder in which it works, absolute, where that is not one of its own. */
  readonly workspace?: string | undefined;
  readonly runsIn?: 'process' | undefined;
  readonly narrowing?: Narrowing | undefined;
  readonly children: readonly ChildSession[];
  /** Subagent jobs that work for it. */
  readonly jobs: readonly OpenJob[];
  /** What it may use up in all, where its parent has set a bound. */
  readonly allowance?: Allowance | undefined;
  /** What its parent may not do. */
  readonly restriction?: Restriction | undefined;
  /** What it and the children that answered its calls have used up, over the whole log. */
  readonly used: { readonly tokens: number; readonly cost: number };
  /** What a person has allowed until the session ends, as rules. */
  readonly sessionRules: readonly string[];
  /**
   * What the session is to achieve, as a client said last; as its agent did where no client has. `seq`: the event that
   * says so.
   */
  readonly outcome?:
    | (SessionEventData<'user.define_outcome'> & { readonly seq: number; readonly by: 'person' | 'agent' })
    | undefined;
  /** Whether the outcome was reached, when that was checked last. `seq`: the event that says so. */
  readonly evaluation?:
    | (Pick<SessionEventData<'outcome.evaluated'>, 'verdict' | 'because' | 'throughSeq' | 'stageDigest'> & {
        readonly seq: number;
      })
    | undefined;
  /** The last tool call that may have changed something began here. */
  readonly changedAtSeq?: number | undefined;
  /** The environment that a client chose for it. Default: that of its agent. */
  readonly environmentId?: string | undefined;
  /** The environment in which it last worked. */
  readonly environment?: SessionEventData<'environment.entered'> | undefined;
  /** What it has learned and was not kept yet. */
  readonly learningsToKeep?: readonly LearningToKeep[] | undefined;
  /** Of what is kept: what is to be in the agent's memory and is not yet. */
  readonly learningsToPromote?: readonly LearningToPromote[] | undefined;
  /** Why the session does not wake by itself any more. */
  readonly parked?: (SessionEventData<'session.parked'> & { readonly seq: number }) | undefined;
  /** When the last event happened, by the clock of the process that appended it. */
  readonly updatedAt?: string | undefined;

  readonly status: SessionStatus;
  /** Absent while the session runs. */
  readonly stopReason?: SessionStopReason | undefined;
  /** What the last wake did, or why it could not. */
  readonly summary?: string | undefined;

  /** Sequence number of the last event; 0 for an empty log. */
  readonly head: number;
  /** The highest epoch of a wake; 0 before the first. */
  readonly epoch: number;
  readonly terminatedAtSeq?: number | undefined;

  readonly pending: readonly PendingIngress[];
  readonly pendingActions: readonly PendingAction[];
  readonly openToolCalls: readonly OpenToolCall[];
  /** The last call that ended, where it failed and no message was read since. */
  readonly failedCall?: FailedCall | undefined;
  readonly openSpanId?: string | undefined;
  /** How a message reaches the open span. */
  readonly openSpanIntake?: z.output<typeof messageIntake> | undefined;
  /** The backend's own session for this conversation, with the number of those it has had. */
  readonly backendSession?: BackendSession | undefined;
  /** What the open span may use up; it counts until it is known what it did. */
  readonly openSpanReserve?: Allowance | undefined;
  /** The newest summary that models read in place of what came before. */
  readonly compactedThroughSeq?: number | undefined;
  /** When a summary was last tried, whatever came of it. */
  readonly compactionTriedAtSeq?: number | undefined;
  readonly openWake?: OpenWake | undefined;
  readonly lastWake?: LastWake | undefined;
  readonly queuedWakes: readonly QueuedWake[];
  /** Directives that were accepted and whose wishes are not in the log yet. */
  readonly openDirectives: readonly Directive[];
  /** What the last model step that came to its end said about what follows, if it said anything. */
  readonly intent?: { readonly spanId: string; readonly next: 'rest' | 'go_on' } | undefined;

  /** Model steps that ended, over the whole log. The position of a script. */
  readonly modelSteps: number;
  readonly messages: number;
  readonly wakes: number;
  /** Tool results that no model step has seen. */
  readonly unansweredResults: number;
  readonly continuesInARow: number;
  /** Wakes in a row that failed or died, that no client asked for, and of these those that called no tool. */
  readonly failuresInARow: number;
  readonly autonomousWakesInARow: number;
  readonly idleWakesInARow: number;
  /** Only in lists: why its log cannot be read. Everything else is that of an empty session then. */
  readonly unreadable?: ErrorRecord | undefined;
  /** The event by which a child came to rest and its parent does not know of yet. */
  readonly owedToParent?:
    | (Omit<SessionEventData<'session.child_idle'>, 'childSessionId' | 'agentId'> & { readonly at: string })
    | undefined;
}

/**
 * The state before the first event. A damaged first record must not cost a session its name, so that comes from where
 * the log lies.
 */
export function initialSessionState({
  sessionId,
  agentId,
}: {
  readonly sessionId: string;
  readonly agentId: string;
}): SessionState {
  return {
    sessionId,
    agentId,
    status: 'idle',
    stopReason: 'idle',
    head: 0,
    epoch: 0,
    pending: [],
    pendingActions: [],
    openToolCalls: [],
    queuedWakes: [],
    openDirectives: [],
    modelSteps: 0,
    messages: 0,
    wakes: 0,
    unansweredResults: 0,
    continuesInARow: 0,
    failuresInARow: 0,
    autonomousWakesInARow: 0,
    idleWakesInARow: 0,
    children: [],
    jobs: [],
    used: { tokens: 0, cost: 0 },
    sessionRules: [],
  };
}

/** How many generations of sessions stand above it. A fork stands where the first session stood. */
export function depthOf({ parent, forkOf }: Pick<SessionState, 'parent' | 'forkOf'>): number {
  return parent?.depth ?? forkOf?.depth ?? 0;
}
