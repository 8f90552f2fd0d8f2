/** What a wake that runs is about, or was when its process died. */
import { markText } from '../agent/definition-mark.ts';
import { counted } from '../inspection/markdown.ts';
import { delegatedCalls } from './session-activations.ts';
import type { SessionEventData } from './session-event.ts';
import type { OpenToolCall, SessionState } from './session-state.ts';
import { messageMover, resetMover, wakeMover, workerMover } from './why-movers.ts';
import type { OpenCallState, Reason } from './why-reason.ts';
import { spanText } from './why-reason.ts';
import { isDiskFull } from './why-conditions.ts';
import type { Conditions } from './why-conditions.ts';
import { callText, isLosing } from './why-work.ts';
import type { SessionWork } from './why-work.ts';

/** Of a model step: for how long no model can be asked, and why. */
export type ModelWait = Pick<SessionEventData<'run.waiting'>, 'skipped'>;

interface RunningFacts {
  readonly modelWait: ModelWait | undefined;
  readonly work: SessionWork;
}

export function running(state: SessionState, { modelWait, work: seen }: RunningFacts): Reason {
  const { sessionId, openWake, lastWake } = state;
  const interruption = openWake?.interruption === undefined ? '' : ' A client has interrupted it; it comes to its end.';
  const lost =
    lastWake?.outcome === 'lost' && !isLosing(state, seen)
      ? ' The wake before it was lost: its process died, or was suspended for longer than its lease.'
      : '';
  const isWaiting = state.openSpanId !== undefined && modelWait !== undefined;
  const work = isWaiting
    ? `no model can be asked yet: ${modelWait.skipped?.map(({ because }) => because).join('; ') ?? 'all of them rest'}`
    : atWork(state, seen);
  return {
    kind: 'running',
    text: `A wake runs, epoch ${openWake?.epoch ?? 0}, by ${openWake?.owner ?? 'a process'}${under(openWake)}: ${work}; ${soFar(state)}.${interruption}${lost}`,
    since: openWake?.startedAt,
    movers: [
      ...(isWaiting ? [resetMover()] : []),
      { who: 'runtime', events: ['wake.ended'], does: 'ends the wake when its work is done' },
      {
        who: 'person',
        events: ['user.interrupt'],
        does: 'cuts it short',
        command: ['session', 'interrupt', '--session', sessionId],
      },
      messageMover(sessionId, { delivery: 'steer' }),
      { ...workerMover(), does: 'goes on with it, if its process has died' },
      { ...wakeMover(sessionId), does: 'does the same' },
    ],
    calls: callStates(state),
  };
}

/** Its log says that a wake runs, and the process of that wake does not live. `since` is the last sign of it. */
interface DeadFacts {
  readonly conditions: Conditions;
  readonly work: SessionWork;
}

export function dead(state: SessionState, nowMs: number, { conditions, work }: DeadFacts): Reason {
  const { sessionId, openWake, updatedAt } = state;
  const movers = [
    { ...workerMover(), does: 'goes on with it' },
    { ...wakeMover(sessionId), does: 'does the same now' },
  ];
  const isFull = isDiskFull(conditions);
  if (work.isHolderAlive === true)
    return {
      kind: 'lost',
      text: `${isFull ? 'Its wake could not write how it ended' : 'Its wake was lost'}; its process ${openWake?.owner ?? ''} lives${goesOnText(work, isFull)} When it ended, ${atWork(state, work, 'past')}; ${soFar(state)}.${cutOff(state)}`,
      since: updatedAt,
      movers: [
        ...(work.isHolderWorker === true
          ? [{ who: 'worker', events: ['wake.started'], does: 'that lives takes it up again by itself' } as const]
          : []),
        ...movers,
      ],
      calls: callStates(state),
    };
  return {
    kind: 'dead',
    text: `${isFull ? 'Its wake could not write how it ended, or its process has died' : 'Its process has died'}, ${openWake?.owner ?? 'of which nothing is known'}${agoText(nowMs - Date.parse(updatedAt ?? ''))}: ${atWork(state, work, 'past')}; ${soFar(state)}. Nothing is lost: a worker or another wake goes on from its log.${cutOff(state)}`,
    since: updatedAt,
    movers,
    calls: callStates(state),
  };
}

function goesOnText({ isHolderWorker }: SessionWork, isFull: boolean): string {
  if (isHolderWorker !== true) return ', and is not known to be a worker. A worker or another wake goes on.';
  return isFull ? '. A worker goes on once there is space.' : '. A worker takes it up again by itself: nothing to do.';
}

/** What becomes of calls that ran when the process died. */
function cutOff({ openToolCalls }: SessionState): string {
  const ran = openToolCalls.filter(({ phase, ifLost }) => phase === 'started' && ifLost !== 'retry');
  if (ran.length === 0) return '';
  return ` ${ran.length === 1 ? 'The call that ran is' : `The ${ran.length} calls that ran are`} not run again: the agent is told that nothing is known of the end.`;
}

/** By the last event of its log. */
function agoText(ms: number): string {
  return Number.isFinite(ms) ? `, last heard of ${spanText(ms)} ago` : '';
}

/** What its wake is about, or was when its log was written last. */
function atWork(state: SessionState, { calls }: SessionWork, tense: 'present' | 'past' = 'present'): string {
  const executing = callStates(state).filter((call) => call.state === 'executing');
  const waiting = delegatedCalls(state);
  const isOver = tense === 'past';
  if (state.openSpanId !== undefined) return isOver ? 'the model was asked' : 'the model is asked';
  if (executing.length > 0)
    return `it ${isOver ? 'ran' : 'runs'} ${executing.map(({ callId, name }) => callText(name, calls?.get(callId))).join(', ')}`;
  if (waiting.length > 0)
    return `it ${isOver ? 'waited' : 'waits'} along with the agents behind ${waiting.map(({ name }) => name).join(', ')}`;
  return `it ${isOver ? 'was' : 'is'} between two steps`;
}

function under(wake: SessionState['openWake']): string {
  return wake?.definition === undefined ? '' : `, under definition ${markText(wake.definition)} of its agent`;
}

function soFar({ openWake }: SessionState): string {
  return `${counted(openWake?.steps ?? 0, 'step')}, ${counted(openWake?.toolCalls ?? 0, 'call')} so far`;
}

function callStates({ openToolCalls }: SessionState): readonly OpenCallState[] {
  return openToolCalls.map((call) => ({ callId: call.callId, name: call.name, state: chartStateOf(call) }));
}

function chartStateOf({ phase, request }: OpenToolCall): OpenCallState['state'] {
  switch (phase) {
    case 'requested':
      return 'requested';
    case 'started':
      return 'executing';
    case 'answered':
      return 'answered';
    case 'waiting':
      return request?.kind === 'permission' ? 'awaiting_permission' : 'awaiting_input';
  }
}
