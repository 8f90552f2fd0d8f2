/**
 * The life of one session's activation in the hands of a worker.
 *
 *   waiting ──BEGIN──▶ waking ──SETTLE──▶ settled
 *    │  ▲ │              ├──CONTEND──▶ contended ──┐
 *    │  │ │              ├──FORESEE──▶ early       │
 *    │  │ │              ├──LEAVE────▶ elsewhere   │
 *    │  │ └──────────────┼──HOLD─────▶ backed_off  ├──AGAIN──▶ waiting
 *    │  │                └──PARK─────▶ parked ─────┘
 *    │  └───────────────────────────────────────────
 *    └──DROP──▶ dropped ◀──DROP── any that is set aside
 *
 * waiting:     Due, as the index said last; no slot is taken.
 * waking:      Takes a slot; a wake of the session runs here.
 * contended:   Another process wakes the session; we wait until that may be over.
 * early:       The hint is there and what it speaks of is not yet: its sender is about to write it, or died before.
 * elsewhere:   Others are to wake it: they have its folder, or its agent; it is checked again after a time that grows.
 * backed_off:  The wake failed; it is tried again after a time that grows.
 * parked:      The same, after several failures in a row: a person should check.
 * settled:     The wake has ended, and the log says what comes next.
 * dropped:     Not due any more, or the worker ends; whatever hint is left stays for others.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';
import type { activationEvents } from './activation-events.ts';

export type ActivationEventType = keyof typeof activationEvents;

const setAside = {
  meta: {
    waives: {
      'ignored-command': {
        BEGIN: 'A worker begins only what waits: what is set aside is left out when it searches for what is due.',
      },
    },
  } satisfies ChartNotes,
  on: { AGAIN: 'waiting', DROP: 'dropped' },
} as const;

export const activationMachine = setup({
  types: { events: {} as { readonly type: ActivationEventType } },
}).createMachine({
  id: 'activation',
  description: "The life of one session's activation in the hands of a worker.",
  initial: 'waiting',
  states: {
    waiting: {
      description: 'Due, as the index said last; no slot is taken.',
      on: { BEGIN: 'waking', HOLD: 'backed_off', DROP: 'dropped' },
    },
    waking: {
      description: 'Takes a slot; a wake of the session runs here.',
      meta: {
        waives: {
          'ignored-command': {
            BEGIN:
              'One wake of a session runs at a time: what wakes is left out when the worker searches for what is due.',
            DROP: 'A wake that runs is not dropped but stopped, and says how it ended.',
          },
          'unbounded-wait':
            'The worker awaits the wake itself, and each end of it is one of these; how long it may take is said by the budget of its agent.',
        },
      } satisfies ChartNotes,
      on: {
        SETTLE: 'settled',
        CONTEND: 'contended',
        FORESEE: 'early',
        LEAVE: 'elsewhere',
        HOLD: 'backed_off',
        PARK: 'parked',
      },
    },
    contended: { ...setAside, description: 'Another process wakes the session; we wait until that may be over.' },
    early: {
      ...setAside,
      description:
        'The hint is there and what it speaks of is not yet: its sender is about to write it, or died before.',
    },
    elsewhere: {
      ...setAside,
      description:
        'Others are to wake it: they have its folder, or its agent; it is checked again after a time that grows.',
    },
    backed_off: { ...setAside, description: 'The wake failed; it is tried again after a time that grows.' },
    parked: { ...setAside, description: 'The same, after several failures in a row: a person should check.' },
    settled: { description: 'The wake has ended, and the log says what comes next.', type: 'final' },
    dropped: {
      description: 'Not due any more, or the worker ends; whatever hint is left stays for others.',
      type: 'final',
    },
  },
});

export type ActivationPhase = StateValueFrom<typeof activationMachine>;

/** The phases in which a session is left out until a time or the end of another process's wake. */
export type SetAsidePhase = Extract<ActivationPhase, 'contended' | 'early' | 'elsewhere' | 'backed_off' | 'parked'>;

export const activationLifecycle = compileLifecycle<ActivationPhase, { readonly type: ActivationEventType }>(
  activationMachine,
);
