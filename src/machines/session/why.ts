/**
 * Why a session does what it does, or does nothing: each thing that it works on or waits for, since when, which events
 * would move it on, and who can bring them about. From its folded log alone, so that every reader is told the same.
 */
import { unixMsOf } from '../ids.ts';
import { counted } from '../inspection/markdown.ts';
import { TAKEN_MS, delegatedCalls, isBlocked, isUnfinished } from './session-activations.ts';
import { lackText } from './lack.ts';
import type { Lack } from './lack.ts';
import type { SessionEventData } from './session-event.ts';
import type { OpenToolCall, PendingAction, SessionState } from './session-state.ts';
import { explainCharts } from './why-charts.ts';
import type { ChartExplanation } from './why-charts.ts';
import {
  RESET_COMMAND,
  givenMovers,
  isWaker,
  lackMovers,
  messageMover,
  resetMover,
  restMovers,
  timeMover,
  wakeMover,
  workerMover,
} from './why-movers.ts';
import type { Mover } from './why-movers.ts';
import type { Reason } from './why-reason.ts';
import { spanText } from './why-reason.ts';
import { dead, running } from './why-running.ts';
import type { ModelWait } from './why-running.ts';
import { diskReasons, scheduleReasons } from './why-conditions.ts';
import type { ScheduleReasons, Conditions } from './why-conditions.ts';
import type { TimerOptions } from './why-timers.ts';
import { left, losing, suspendedHolder, suspendedMovers, suspendedText } from './why-work.ts';
import type { SessionWork } from './why-work.ts';

export interface Explanation {
  readonly sessionId: string;
  readonly agentId: string;
  readonly status: SessionState['status'];
  readonly stopReason?: SessionState['stopReason'];
  /** The first is what matters most. There is always one. */
  readonly reasons: readonly Reason[];
  /**
   * What its charts take now and what not, who can send it, and what comes by the clock. Absent where its log cannot be
   * read.
   */
  readonly chart?: ChartExplanation | undefined;
}

export interface ExplainOptions extends TimerOptions {
  /** The bound that the last wake reached, as its `wake.ended` says: the folded log does not keep it. */
  readonly budget?: SessionEventData<'wake.ended'>['budget'];
  /** The process of the open wake is dead: the log cannot tell, the store can. Default false. */
  readonly isWakeDead?: boolean | undefined;
  /** The wait of the open model step for a model that can be asked, while it lasts: the folded log does not keep it. */
  readonly modelWait?: ModelWait | undefined;
  /** Default: nothing is known of them. */
  readonly conditions?: Conditions | undefined;
  /** What no process like this one has, which has to leave the session to others. Absent: nothing. */
  readonly lacks?: Lack | undefined;
  /** Default: nothing is known of it. */
  readonly work?: SessionWork | undefined;
}

/** @param nowMs milliseconds since the epoch */
export function explain(
  state: SessionState,
  nowMs: number,
  { budget, isWakeDead = false, modelWait, conditions = {}, lacks, work = {}, ...timers }: ExplainOptions = {},
): Explanation {
  const { sessionId, agentId, status, stopReason } = state;
  const isOver = state.unreadable !== undefined || status === 'terminated';
  const found = reasonsOf(state, nowMs, { budget, isWakeDead, modelWait, conditions, work });
  const around = isOver ? NOTHING_AROUND : scheduleReasons(state, conditions, nowMs);
  const known = [...(isOver || found.length === 0 ? [] : diskReasons(conditions)), ...found, ...around.failing];
  const isAwake = state.openWake !== undefined && !isWakeDead;
  const reasons = lacks === undefined || isAwake ? known : withLack(known, lacks);
  return {
    sessionId,
    agentId,
    status,
    ...(stopReason === undefined ? {} : { stopReason }),
    reasons: [
      ...(found.length > 0
        ? untaken(reasons, state, nowMs)
        : [...reasons, left(state, work) ?? nothing(state, around.others.length > 0)]),
      ...around.others,
    ],
    ...(state.unreadable === undefined ? { chart: explainCharts(state, nowMs, timers) } : {}),
  };
}

/** Where only that keeps workers from it, it is the reason, and another wake without it no help. */
function withLack(reasons: readonly Reason[], lacks: Lack): readonly Reason[] {
  if (!reasons.some(({ movers }) => movers.some(isWaker))) return reasons;
  return [
    {
      kind: `${lacks.what}_missing`,
      text: `There is ${lackText(lacks)} in the home of this machine, nor in a config that is known here: every worker without it leaves the session to those that have it.`,
      movers: lackMovers(lacks),
    },
    ...reasons.map((reason) => ({ ...reason, movers: reason.movers.filter((mover) => !isWaker(mover)) })),
  ];
}

const TAKEN_BY_WORKERS: ReadonlySet<Reason['kind']> = new Set(['unread', 'queued_wake', 'retry', 'unfinished']);

/** What a worker is to take says first that none has. */
function untaken(reasons: readonly Reason[], { jobId }: SessionState, nowMs: number): readonly Reason[] {
  const [first, ...others] = reasons;
  if (first === undefined || jobId !== undefined || !TAKEN_BY_WORKERS.has(first.kind)) return reasons;
  const dueMs = nowMs - Date.parse(first.until ?? first.since ?? '');
  // Not a number where it is unknown since when.
  if (!(dueMs >= TAKEN_MS)) return reasons;
  const text = `No worker has taken it for ${spanText(dueMs)}: none runs, or all are busy. ${first.text}`;
  return [{ ...first, text }, ...others];
}

const NOTHING_AROUND: ScheduleReasons = { failing: [], others: [] };

function reasonsOf(
  state: SessionState,
  nowMs: number,
  { budget, isWakeDead, modelWait, conditions = {}, work = {} }: Omit<ExplainOptions, keyof TimerOptions>,
): Reason[] {
  if (state.unreadable !== undefined)
    return [
      {
        kind: 'unreadable',
        text: `Its log cannot be read: ${state.unreadable.message}`,
        movers: [{ who: 'person', events: [], does: 'restores the log from a copy' }],
      },
    ];
  if (state.status === 'terminated') return [terminated(state)];
  const waits = [
    ...state.pendingActions.map((action) => ofAction(action, state, nowMs)),
    ...delegatedCalls(state).map((call) => ofChild(call, state)),
  ];
  if (state.openWake !== undefined)
    return isWakeDead === true && suspendedHolder(state, work) === undefined
      ? [dead(state, nowMs, { conditions, work }), ...waits]
      : [...losing(state, work), running(state, { modelWait, work }), ...waits];
  return [
    ...parked(state, { budget, work }),
    ...waits,
    ...broken(state, nowMs),
    ...overBudget(state, budget),
    ...unread(state, nowMs),
    ...queued(state, nowMs),
  ];
}

function terminated({ summary, updatedAt }: SessionState): Reason {
  return {
    kind: 'terminated',
    text: `It was terminated${summary === undefined ? '' : `: ${summary}`}. Its log stays readable; nothing moves it any more.`,
    since: updatedAt,
    movers: [],
  };
}

function ofAction(
  { requestId, eventId, kind, toolName, callId, question, rules, expiresAt }: PendingAction,
  { sessionId }: SessionState,
  nowMs: number,
): Reason {
  const shared = {
    since: timeOfId(eventId),
    ...(expiresAt === undefined ? {} : { until: expiresAt }),
    requestId,
    toolName,
    ...(callId === undefined ? {} : { callId }),
  };
  if (expiresAt !== undefined && Date.parse(expiresAt) < nowMs) {
    return {
      kind: 'permission',
      text: `${toolName} was not allowed in time. The next wake denies the call and goes on.`,
      ...shared,
      movers: wakers(sessionId),
    };
  }
  const movers = givenMovers({ sessionId, requestId, kind, hasRules: rules !== undefined && rules.length > 0 });
  const late = expiresAt === undefined ? [] : [timeMover(expiresAt, 'denies the call', 'permission.resolved')];
  switch (kind) {
    case 'permission':
      return {
        kind: 'permission',
        text: `It waits for permission to run ${toolName}${question === undefined ? '' : ` (${question.replace(/\.$/, '')})`}.`,
        ...shared,
        movers: [...movers, ...late],
        ...(rules === undefined ? {} : { rules }),
      };
    case 'answer':
      return { kind: 'question', text: `It waits for an answer: ${question ?? toolName}`, ...shared, movers };
    case 'custom_tool':
      return {
        kind: 'custom_tool',
        text: `It waits for a client to run ${toolName} and give its result.`,
        ...shared,
        movers,
      };
  }
}

function ofChild({ name, callId, request }: OpenToolCall, { sessionId }: SessionState): Reason {
  // Only calls that a child answers are asked about.
  const { childSessionId, agentId } =
    request?.kind === 'subflow' ? request : { childSessionId: sessionId, agentId: name };
  return {
    kind: 'child',
    text: `The call of ${name} waits for the agent ${agentId} to come to rest, in a session of its own.`,
    callId,
    toolName: name,
    childSessionId,
    movers: [
      {
        who: 'child',
        events: ['session.child_idle'],
        does: 'comes to rest',
        command: ['session', 'why', '--session', childSessionId],
      },
      { ...wakeMover(sessionId), does: 'wakes it, and the agent that it waits for' },
    ],
  };
}

function parked(state: SessionState, { budget, work = {} }: Pick<ExplainOptions, 'budget' | 'work'>): Reason[] {
  const { sessionId, parked: fuse, lastWake } = state;
  if (fuse === undefined) return [];
  // How many failed says nothing of what to mend; where the same error parked it, the reason names it already.
  const error = fuse.code === 'failures' ? lastWake?.error : undefined;
  const last = error === undefined ? '' : `${error.message.replace(/\.$/, '')}. `;
  return [
    {
      kind: 'parked',
      text: `It is parked and does not wake by itself: ${last}${fuse.reason}${suspendedText(work)}`,
      movers: [
        ...suspendedMovers(state, work),
        ...mendingMovers(lastWake?.error),
        ...(lastWake?.outcome === 'budget_reached' ? [raiseMover(state, budget)] : []),
        messageMover(sessionId),
        wakeMover(sessionId),
      ],
    },
  ];
}

/** Where the last wake failed because of what rests until a person has put it right. */
function mendingMovers(error: NonNullable<SessionState['lastWake']>['error']): readonly Mover[] {
  return error?.hint?.includes(`wakechart ${RESET_COMMAND.join(' ')}`) === true ? [resetMover()] : [];
}

/** A wake ended before its work did. */
function broken(state: SessionState, nowMs: number): Reason[] {
  const { sessionId, lastWake, status } = state;
  if (status === 'running')
    return [
      {
        kind: 'unfinished',
        text: 'Its log says that it runs, and no wake does: the one that did has died. The next wake puts it right.',
        since: state.updatedAt,
        movers: wakers(sessionId),
      },
    ];
  if (lastWake === undefined || state.parked !== undefined || isBlocked(state)) return [];
  const { outcome, error, retryAt, endedAt } = lastWake;
  const what = error === undefined ? '' : `: ${error.message}`;
  if (retryAt !== undefined) {
    const isDue = Date.parse(retryAt) <= nowMs;
    const movers = [
      ...mendingMovers(error),
      isDue ? workerMover() : timeMover(retryAt, 'lets a worker try again', 'wake.started'),
      wakeMover(sessionId),
      messageMover(sessionId),
    ];
    return [
      {
        kind: 'retry',
        text: `The last wake ${ENDINGS[outcome] ?? `ended as ${outcome}`}${what}. It is tried again${isDue ? ' now' : ''}.`,
        since: endedAt,
        until: retryAt,
        movers,
      },
    ];
  }
  if (ENDINGS[outcome] === undefined || !isUnfinished(state)) return [];
  return [
    {
      kind: 'unfinished',
      text: `The last wake ${ENDINGS[outcome]}${what}. What it left is gone on with by the next one.`,
      since: endedAt,
      movers: wakers(sessionId),
    },
  ];
}

const ENDINGS: Readonly<Record<string, string>> = { failed: 'failed', aborted: 'was stopped', lost: 'died' };

function overBudget(state: SessionState, budget: ExplainOptions['budget']): Reason[] {
  const { sessionId, lastWake } = state;
  if (lastWake?.outcome !== 'budget_reached') return [];
  const which =
    budget === undefined
      ? 'a budget'
      : `the budget ${budget.name} (${budget.value})${budget.because === undefined ? '' : `: ${budget.because}`}`;
  return [
    {
      kind: 'budget',
      text: `The last wake stopped at ${which}. Nothing is lost: ${isForGood(budget) ? 'once there is more, another wake goes on' : 'another wake goes on'}.`,
      since: lastWake.endedAt,
      movers: [
        ...(isForGood(budget) ? [] : [wakeMover(sessionId), messageMover(sessionId)]),
        raiseMover(state, budget),
      ],
    },
  ];
}

function raiseMover({ agentId }: SessionState, budget: ExplainOptions['budget']): Mover {
  return {
    who: 'person',
    events: [],
    does:
      budget?.name.startsWith('max') === true
        ? `raises budget.${budget.name} in the agent's file`
        : "raises the budget in the agent's file",
    command: ['agent', 'show', agentId],
  };
}

/** What a session as a whole has used up does not come back, nor does a price become known by itself. */
function isForGood(budget: ExplainOptions['budget']): boolean {
  return budget?.name.endsWith('PerSession') === true || budget?.because?.includes('price') === true;
}

function unread(state: SessionState, nowMs: number): Reason[] {
  const { sessionId, pending, lastWake } = state;
  const answers = pending.filter(({ callId }) => callId !== undefined);
  const messages = pending.filter(({ callId }) => callId === undefined);
  const notBefore =
    lastWake?.retryAt !== undefined && Date.parse(lastWake.retryAt) > nowMs ? { until: lastWake.retryAt } : {};
  // Workers wait for the time of another try; a person need not.
  const movers =
    notBefore.until === undefined
      ? wakers(sessionId)
      : [timeMover(notBefore.until, 'lets a worker wake it', 'wake.started'), wakeMover(sessionId)];
  const goOn = (text: string, since: string | undefined): Reason => ({
    kind: 'unread',
    text,
    since,
    ...notBefore,
    movers,
  });
  const found =
    answers.length === 0
      ? []
      : [
          goOn(
            `${counted(answers.length, 'answer')} came for calls that wait; the next wake goes on with them.`,
            answers[0]?.at,
          ),
        ];
  if (messages.length === 0) return found;
  const since = messages[0]?.at;
  if (!isBlocked(state))
    return [
      ...found,
      goOn(
        `${counted(messages.length, 'message')} to be read; no wake has read ${messages.length === 1 ? 'it' : 'them'} yet.`,
        since,
      ),
    ];
  return [
    ...found,
    {
      kind: 'held_back',
      text: `${counted(messages.length, 'message')} to be read, after the calls that wait have been answered.`,
      since,
      movers: restMovers(sessionId),
    },
  ];
}

function queued(state: SessionState, nowMs: number): Reason[] {
  const { sessionId } = state;
  return state.queuedWakes
    .toSorted((one, other) => Date.parse(one.dueAt) - Date.parse(other.dueAt))
    .map(({ reason, dueAt, eventId }): Reason => {
      const shared = { since: timeOfId(eventId), until: dueAt };
      if (state.parked !== undefined || isBlocked(state))
        return {
          kind: 'held_back',
          text: `A wake is queued (${reason}); it is held back until the session goes on.`,
          ...shared,
          movers: restMovers(sessionId),
        };
      const isDue = Date.parse(dueAt) <= nowMs;
      const when = isDue ? workerMover() : timeMover(dueAt, 'makes it due for a worker', 'wake.started');
      return {
        kind: 'queued_wake',
        text: `A wake is queued (${reason})${isDue ? ' and is due' : ''}.`,
        ...shared,
        movers: [when, ...(isDue ? [wakeMover(sessionId)] : []), messageMover(sessionId)],
      };
    });
}

function nothing({ sessionId, lastWake, createdAt, summary }: SessionState, hasSchedule: boolean): Reason {
  const waits = hasSchedule
    ? 'It waits for a message, such as that of its schedule.'
    : 'It waits for nothing but a message.';
  if (lastWake?.outcome === 'interrupted')
    return {
      kind: 'nothing',
      text: `Its last turn was interrupted, and nothing of it is gone on with. ${waits}`,
      since: lastWake.endedAt,
      movers: [messageMover(sessionId)],
    };
  const done =
    lastWake === undefined
      ? 'It has not been sent anything yet.'
      : `It came to rest${summary === undefined || summary === '' ? '' : `: ${summary}`}.`.replace(/\.\.$/, '.');
  return {
    kind: 'nothing',
    text: `${done} ${waits}`,
    since: lastWake?.endedAt ?? createdAt,
    movers: [messageMover(sessionId)],
  };
}

function wakers(sessionId: string): readonly Mover[] {
  return [workerMover(), wakeMover(sessionId)];
}

/** Ids of events begin with the time at which they were made. */
function timeOfId(eventId: string): string | undefined {
  const ms = unixMsOf(eventId);
  const LATEST_MS = 8.64e15;
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(eventId) && ms <= LATEST_MS ? new Date(ms).toISOString() : undefined;
}
