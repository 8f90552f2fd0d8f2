/** One session that a worker has found due: its actor, and what came of it so far. */
import type { AnyActorRef } from 'xstate';
import type { ErrorRecord } from '../../machines/errors.ts';
import { activationLifecycle } from '../../machines/session/activation-machine.ts';
import type { ActivationEventType, ActivationPhase, SetAsidePhase } from '../../machines/session/activation-machine.ts';
import type { DueSession } from '../../machines/session/due-sessions.ts';
import type { TimerHandle } from '../clock/clock.ts';
import { ChartedLife } from '../charted-life.ts';

/**
 * What a session can come to again and again; attempts are counted in a row of the same kind. `elsewhere`: another
 * machine or process is to wake it.
 */
export type ClaimFailure = 'early' | 'contended' | 'elsewhere' | 'failed';

export class Claim {
  readonly sessionId: string;
  readonly agentId: string;
  readonly #life: ChartedLife<ActivationPhase, { readonly type: ActivationEventType }>;
  /** As the index said last. */
  session: DueSession;
  failure: ClaimFailure | undefined;
  attempts = 0;
  reason: ErrorRecord | undefined;
  /** Milliseconds since the epoch. */
  againAtMs: number | undefined;
  timer: TimerHandle | undefined;
  /** Ends the waiting for another process's wake. */
  stopWaiting: (() => void) | undefined;
  /** Of the wake that runs. */
  abort: AbortController | undefined;
  /** When the wake began: milliseconds since the epoch, and on the steady clock. */
  beganAtMs = 0;
  beganSteadyMs = 0;
  /** How often the index had told of hints when the wake began. */
  beganAtRing = 0;
  heardBefore = 0;

  constructor(session: DueSession, supervisor: AnyActorRef, id: string) {
    this.sessionId = session.sessionId;
    this.agentId = session.agentId;
    this.session = session;
    this.#life = new ChartedLife({ lifecycle: activationLifecycle, id, parent: supervisor });
  }

  get phase(): ActivationPhase {
    return this.#life.value;
  }

  get isOver(): boolean {
    return this.phase === 'settled' || this.phase === 'dropped';
  }

  get isSetAside(): boolean {
    return isSetAsidePhase(this.phase);
  }

  move(type: ActivationEventType): void {
    this.#life.move(type);
  }
}

const SET_ASIDE: ReadonlySet<ActivationPhase> = new Set<SetAsidePhase>([
  ...(['contended', 'early', 'elsewhere', 'backed_off', 'parked'] as const),
]);

function isSetAsidePhase(phase: ActivationPhase): phase is SetAsidePhase {
  return SET_ASIDE.has(phase);
}
