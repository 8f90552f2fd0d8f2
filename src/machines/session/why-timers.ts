/** What happens in a session by the clock, soonest first: from its folded log, as workers read it too. */
import type { Activation } from './activation.ts';
import { activationsOf } from './session-activations.ts';
import type { SessionState } from './session-state.ts';

/**
 * `expiry`: a request for permission is void. `queued_wake`, `retry`: a wake is due. `waiting`: what came in may be
 * read. `budget`: the wake that runs has used up its time.
 */
export type TimerKind = 'expiry' | 'queued_wake' | 'retry' | 'waiting' | 'budget';

export interface SessionTimer {
  readonly kind: TimerKind;
  /** ISO-8601. */
  readonly at: string;
  /** Its time has come: all it takes is a worker, or the wake that runs. */
  readonly isDue: boolean;
  /** What comes of it, as a sentence. */
  readonly does: string;
  readonly requestId?: string | undefined;
  readonly callId?: string | undefined;
  readonly queuedWakeId?: string | undefined;
}

export interface TimerOptions {
  /** The bound that the agent's file sets, in seconds: the log does not hold it. */
  readonly maxSecondsPerWake?: number | undefined;
}

/** @param nowMs milliseconds since the epoch */
export function sessionTimers(
  state: SessionState,
  nowMs: number,
  { maxSecondsPerWake }: TimerOptions = {},
): readonly SessionTimer[] {
  if (state.status === 'terminated') return [];
  const found =
    state.openWake === undefined
      ? activationsOf(state).flatMap((activation) => ofActivation(activation, state))
      : duringWake(state, maxSecondsPerWake);
  return found
    .filter(({ atMs }) => Math.abs(atMs) <= LATEST_MS)
    .toSorted((one, other) => one.atMs - other.atMs)
    .map(({ atMs, ...timer }) => ({ ...timer, at: new Date(atMs).toISOString(), isDue: atMs <= nowMs }));
}

/** No date of JavaScript lies beyond it. */
const LATEST_MS = 8.64e15;

type Found = Omit<SessionTimer, 'at' | 'isDue'> & { readonly atMs: number };

function ofActivation({ kind, causeId, dueAtMs: atMs }: Activation, state: SessionState): readonly Found[] {
  if (kind === 'ingress') return [{ kind: 'waiting', atMs, does: 'A worker wakes it to read what came in.' }];
  if (kind === 'retry')
    return [
      {
        kind: 'retry',
        atMs,
        does: causeId.startsWith('turn-')
          ? 'A worker tells the parent that it has come to rest.'
          : 'A worker wakes it, to go on with what the last wake left.',
      },
    ];
  const queued = state.queuedWakes.find(({ queuedWakeId }) => queuedWakeId === causeId);
  if (queued !== undefined)
    return [{ kind: 'queued_wake', atMs, does: `A worker wakes it (${queued.reason}).`, queuedWakeId: causeId }];
  return expiries(state).filter(({ callId }) => causeId === `expiry-${callId}`);
}

/** Nothing of it is left to workers while a wake runs. */
function duringWake(state: SessionState, maxSecondsPerWake: number | undefined): readonly Found[] {
  const startedMs = Date.parse(state.openWake?.startedAt ?? '');
  const isBounded = maxSecondsPerWake !== undefined && !Number.isNaN(startedMs);
  return [
    ...expiries(state),
    ...(isBounded
      ? [
          {
            kind: 'budget' as const,
            atMs: startedMs + maxSecondsPerWake * 1000,
            does: `The wake has used up maxSecondsPerWake (${maxSecondsPerWake}) and rests.`,
          },
        ]
      : []),
  ];
}

function expiries({ pendingActions }: SessionState): readonly (Found & { readonly callId: string })[] {
  return pendingActions.flatMap(({ requestId, callId, toolName, expiresAt }) =>
    callId === undefined || expiresAt === undefined || Number.isNaN(Date.parse(expiresAt))
      ? []
      : [
          {
            kind: 'expiry' as const,
            atMs: Date.parse(expiresAt),
            does: `The request to run ${toolName} is void, and the next wake denies the call.`,
            requestId,
            callId,
          },
        ],
  );
}
