/**
 * The life of one session's activation in the hands of a worker.
 *
 *   waiting ──BEGIN──▶ waking ──SETTLE──▶ settled
 *    │  ▲ │              ├──CONTEND──▶ contended ──┐
 *    │  │ │              ├──FORESEE──▶ early       │
 *    │  │ └──────────────┼──HOLD─────▶ backed_off  ├──AGAIN──▶ waiting
 *    │  │                └──PARK─────▶ parked ─────┘
 *    │  └───────────────────────────────────────────
 *    └──DROP──▶ dropped ◀──DROP── any that is set aside
 *
 * waiting:     due, as the index said last; no slot is taken.
 * waking:      takes a slot; a wake of the session runs here.
 * contended:   somebody else wakes the session; we wait until that may be over.
 * early:       the hint is there and what it speaks of is not yet: its sender is about to write it, or died before.
 * backed_off:  the wake failed; it is tried again after a time that grows.
 * parked:      the same, after several failures in a row: somebody should look.
 * settled:     the wake has ended, and the log says what comes next.
 * dropped:     not due any more, or the worker ends; whatever hint is left stays for others.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import { compileLifecycle } from '../lifecycle.ts';

export type ActivationEventType = 'BEGIN' | 'SETTLE' | 'CONTEND' | 'FORESEE' | 'HOLD' | 'PARK' | 'AGAIN' | 'DROP';

const setAside = { on: { AGAIN: 'waiting', DROP: 'dropped' } } as const;

export const activationMachine = setup({ types: { events: {} as { readonly type: ActivationEventType } } }).createMachine({
  id: 'activation',
  initial: 'waiting',
  states: {
    waiting: { on: { BEGIN: 'waking', HOLD: 'backed_off', DROP: 'dropped' } },
    waking: { on: { SETTLE: 'settled', CONTEND: 'contended', FORESEE: 'early', HOLD: 'backed_off', PARK: 'parked' } },
    contended: setAside,
    early: setAside,
    backed_off: setAside,
    parked: setAside,
    settled: { type: 'final' },
    dropped: { type: 'final' },
  },
});

export type ActivationPhase = StateValueFrom<typeof activationMachine>;

/** The phases in which a session is left out until a time or somebody else's end. */
export type SetAsidePhase = Extract<ActivationPhase, 'contended' | 'early' | 'backed_off' | 'parked'>;

export const activationLifecycle = compileLifecycle<ActivationPhase, { readonly type: ActivationEventType }>(activationMachine);
