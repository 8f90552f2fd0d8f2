/** Who can bring about what a chart of a session would take, and with which command. */
import { hasWork } from '../wake/wake-decision.ts';
import { delegatedCalls, isDue } from './session-activations.ts';
import type { SessionChartEventType } from './session-machine.ts';
import type { OpenToolCall, PendingAction, SessionState } from './session-state.ts';
import { givenMovers, messageMover, restMovers, timeMover, wakeMover, workerMover } from './why-movers.ts';
import type { Mover } from './why-movers.ts';

export interface Moved {
  readonly movers: readonly Mover[];
  readonly remark?: string | undefined;
}

/** @param nowMs milliseconds since the epoch */
export function sessionMovers(event: string, state: SessionState, nowMs: number): Moved {
  const { sessionId, status } = state;
  switch (event as SessionChartEventType) {
    case 'WAKE':
      return wakeMoved(state, nowMs);
    case 'RESOLVE':
      return resolveMoved(state, nowMs);
    case 'TERMINATE':
      return {
        movers: [
          {
            who: 'person',
            events: ['session.status_changed'],
            does: 'ends it for ever',
            command: ['session', 'terminate', '--session', sessionId],
          },
        ],
      };
    case 'REST':
      return status === 'rescheduling'
        ? { movers: restMovers(sessionId) }
        : byTheWake(state, 'ends the wake when nothing is left to do');
    case 'REQUIRE_ACTION':
      return byTheWake(state, 'ends the wake when a person or client is asked for something');
    case 'RESCHEDULE':
      return byTheWake(state, 'ends the wake when it is to go on later');
  }
}

function wakeMoved(state: SessionState, nowMs: number): Moved {
  const { sessionId, openWake, openSpanId, status, parked, jobId } = state;
  if (jobId !== undefined)
    return {
      movers: [
        {
          who: 'runtime',
          events: ['wake.started'],
          does: `wakes it for the subagent job ${jobId}, as long as the job runs`,
        },
      ],
    };
  const movers = [workerMover(), wakeMover(sessionId)];
  if (openWake !== undefined)
    return {
      movers,
      remark:
        'Only once the process of the wake that runs has died, or has not answered for long enough: until then a process that tries is refused.',
    };
  // What a wake left that died is put right by the next one, whatever there is to do.
  if (status === 'running' || openSpanId !== undefined) return { movers };
  const isIdle = !hasWork(state, new Date(nowMs).toISOString());
  if (isIdle && parked !== undefined)
    return {
      movers: [wakeMover(sessionId), messageMover(sessionId)],
      remark: 'A wake would find nothing to do now, and only take back that it is parked.',
    };
  if (isIdle)
    return {
      movers: [messageMover(sessionId)],
      remark: 'A wake would find nothing to do now, and leave the log as it is: something has to come first.',
    };
  return isDue(state, nowMs)
    ? { movers }
    : { movers: [wakeMover(sessionId), messageMover(sessionId)], remark: 'No worker begins it by itself yet.' };
}

function resolveMoved(state: SessionState, nowMs: number): Moved {
  const { sessionId, pendingActions } = state;
  const children = delegatedCalls(state);
  const count = pendingActions.length + children.length;
  const movers = [
    ...pendingActions.flatMap((action) => answerMovers(action, sessionId, nowMs)),
    ...children.map(childMover),
    ...restMovers(sessionId),
  ];
  return {
    movers,
    ...(count > 1 ? { remark: `It waits for ${count} things, and goes on when the last of them has come.` } : {}),
  };
}

function answerMovers(action: PendingAction, sessionId: string, nowMs: number): readonly Mover[] {
  if (isVoid(action, nowMs)) return [workerMover(), wakeMover(sessionId)];
  const { requestId, kind, rules = [] } = action;
  return givenMovers({ sessionId, requestId, kind, hasRules: rules.length > 0 });
}

/** An answer would be refused: the next wake denies the call. */
function isVoid({ expiresAt }: PendingAction, nowMs: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMs;
}

function childMover({ request }: OpenToolCall): Mover {
  const child = request?.kind === 'subflow' ? { command: ['session', 'why', '--session', request.childSessionId] } : {};
  return { who: 'child', events: ['session.child_idle'], does: 'comes to rest', ...child };
}

function byTheWake({ openWake }: SessionState, does: string): Moved {
  if (openWake !== undefined)
    return { movers: [{ who: 'runtime', events: ['wake.ended', 'session.status_changed'], does }] };
  return {
    movers: [{ who: 'runtime', events: ['session.status_changed'], does }],
    remark: 'No wake runs, though its log says that it does: the next one puts it right.',
  };
}

export function wakeMovers(): Moved {
  return {
    movers: [
      {
        who: 'runtime',
        events: ['wake.ended'],
        does: 'ends it early when the caller that asked for the wake takes that back, or when its process is told to stop',
      },
    ],
  };
}

interface CallAsked {
  readonly call: OpenToolCall;
  readonly state: SessionState;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

export function callMovers(event: string, asked: CallAsked): Moved {
  const { call, state } = asked;
  if (call.phase === 'started') return runningMoved(event, state);
  if (event === 'CANCEL') return { movers: restMovers(state.sessionId) };
  if (call.phase === 'waiting') return waitingMoved(event, asked);
  const movers: readonly Mover[] =
    state.openWake === undefined
      ? [workerMover(), wakeMover(state.sessionId)]
      : [{ who: 'runtime', events: [], does: 'decides when the wake comes to it' }];
  return {
    movers,
    ...(call.phase === 'answered' ? { remark: 'What it waited for has come; the wake goes on with it.' } : {}),
  };
}

function runningMoved(event: string, { sessionId }: SessionState): Moved {
  if (event === 'LOSE')
    return { movers: [workerMover(), wakeMover(sessionId)], remark: 'Only once the process that runs it has died.' };
  return {
    movers: [
      { who: 'runtime', events: ['agent.tool_result'], does: 'stops it with the wake' },
      ...restMovers(sessionId),
    ],
  };
}

function waitingMoved(event: string, { call, state, nowMs }: CallAsked): Moved {
  const { sessionId, pendingActions } = state;
  if (call.request?.kind === 'subflow') return { movers: [childMover(call)] };
  const action = pendingActions.find((pending) => pending.callId === call.callId);
  if (action === undefined) return { movers: [wakeMover(sessionId)] };
  if (isVoid(action, nowMs)) return voidMoved(event, sessionId);
  const given = answerMovers(action, sessionId, nowMs);
  if (action.kind !== 'permission') return { movers: given };
  const isDenial = ({ command = [] }: Mover): boolean => command.includes('--deny');
  if (event === 'DENY')
    return {
      movers: [
        ...given.filter(isDenial),
        ...(action.expiresAt === undefined
          ? []
          : [timeMover(action.expiresAt, 'denies the call', 'permission.resolved')]),
      ],
    };
  return {
    movers: given.filter((mover) => !isDenial(mover)),
    ...(event === 'ASK_INPUT' ? { remark: 'Where its result comes from outside.' } : {}),
  };
}

function voidMoved(event: string, sessionId: string): Moved {
  if (event === 'DENY')
    return {
      movers: [workerMover(), wakeMover(sessionId)],
      remark: 'No answer came in time: the next wake denies it.',
    };
  return { movers: [], remark: 'No answer came in time, and an answer would be refused now.' };
}
