/** How the beginning and the end of a wake change a session's state. */
import type { Change } from './fold-status.ts';
import { causesOfWake } from './session-activations.ts';
import type { SessionEventData, SessionEventOf } from './session-event.ts';
import type { OpenWake, SessionState } from './session-state.ts';

export function foldWakeStarted(state: SessionState, { at, data }: SessionEventOf<'wake.started'>): Change {
  const { wakeId, epoch, owner, queuedWakeIds, trigger = 'manual', host, definition } = data;
  return {
    wakes: state.wakes + 1,
    epoch: Math.max(state.epoch, epoch),
    autonomousWakesInARow: state.autonomousWakesInARow + Number(isAutonomous(trigger)),
    openWake: {
      wakeId,
      epoch,
      owner,
      ...(host === undefined ? {} : { host }),
      ...(definition === undefined ? {} : { definition }),
      startedAt: at,
      trigger,
      queuedWakeIds,
      causes: causesOfWake(state, wakeId, Date.parse(at)),
      toolCalls: 0,
      steps: 0,
      tokens: 0,
      cost: 0,
    },
  };
}

export function foldWakeEnded(state: SessionState, event: SessionEventOf<'wake.ended'>): Change {
  const { at, data } = event;
  const { openWake } = state;
  if (openWake?.wakeId !== data.wakeId) return {};
  const { error } = data;
  // Whatever else happened to a wake that a client cut short: nothing of it is gone on with.
  const outcome = openWake.interruption === undefined || data.outcome === 'terminated' ? data.outcome : 'interrupted';
  const retryAt = outcome === 'interrupted' ? undefined : data.retryAt;
  const completed = new Set(data.completedWakeIds);
  return {
    openWake: undefined,
    lastWake: {
      ...{ wakeId: data.wakeId, epoch: openWake.epoch, endedAt: at, outcome },
      ...(error === undefined ? {} : { error }),
      ...(retryAt === undefined ? {} : { retryAt }),
      ...(openWake.host === undefined ? {} : { host: openWake.host }),
      ...(openWake.definition === undefined ? {} : { definition: openWake.definition }),
      ...(hasDied(openWake, event) ? { hasDied: true } : {}),
    },
    queuedWakes:
      completed.size === 0
        ? state.queuedWakes
        : state.queuedWakes.filter(({ queuedWakeId }) => !completed.has(queuedWakeId)),
    // A wake that died may have accepted a directive whose wishes are not stored yet; the next one carries them out.
    openDirectives: outcome === 'lost' ? state.openDirectives : [],
    unansweredResults: leavesNothing(outcome) ? 0 : state.unansweredResults,
    intent: leavesNothing(outcome) ? undefined : state.intent,
    // A client that wakes it after a limit lets it go on as often again.
    continuesInARow: outcome === 'budget_reached' ? 0 : state.continuesInARow,
    ...countsAfter(state, openWake, outcome),
  };
}

/** A wake says its own end under its own epoch. */
function hasDied({ epoch }: OpenWake, { epoch: saidBy = epoch, data }: SessionEventOf<'wake.ended'>): boolean {
  return data.outcome === 'lost' || saidBy > epoch;
}

function countsAfter(state: SessionState, { trigger, toolCalls }: OpenWake, outcome: Outcome): Change {
  const hasFailed = outcome === 'failed' || outcome === 'lost';
  if (outcome === 'aborted') return {};
  return {
    failuresInARow: hasFailed ? state.failuresInARow + 1 : 0,
    idleWakesInARow: isAutonomous(trigger) && toolCalls === 0 && !hasFailed ? state.idleWakesInARow + 1 : 0,
  };
}

type Outcome = SessionEventData<'wake.ended'>['outcome'];

/** Whether the session has answered all it had to, or was told not to. */
function leavesNothing(outcome: Outcome): boolean {
  return outcome === 'sleep' || outcome === 'requires_action' || outcome === 'rescheduled' || outcome === 'interrupted';
}

/** Whether no client asked for a wake that began like this. */
export function isAutonomous(trigger: OpenWake['trigger']): boolean {
  return trigger === 'wake' || trigger === 'retry';
}
