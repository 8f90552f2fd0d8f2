/**
 * The life of one worktree that was made for a subagent.
 *
 *   absent ──CREATE──▶ creating ──CREATED──▶ ready ──INSPECT──▶ inspecting ──CLEAN──▶ removing ──REMOVED──▶ removed
 *     ▲                  │  │                 ▲ │                 │   ▲                 │
 *     └──CREATE_FAILED───┘  │                 │ │               DIRTY │            REMOVE_FAILED
 *                     CREATE_UNKNOWN        ADOPT                 ▼   INSPECT            ▼
 *                           │                 ├──────────────── preserved ◀──────────────┘
 *                           ▼                 │
 *                        orphaned ────────────┘        (creating, ready, inspecting, removing) ──OWNER_LOST──▶ orphaned ──INSPECT──▶ inspecting
 *
 * absent:      Nothing of it is on the disk.
 * creating:    Its record is on the disk; git makes the folder and the branch, and either may be there already.
 * ready:       It is whole and an agent works in it; no process checks whether it can go.
 * inspecting:  No agent works in it any more; it is being asked whether anything in it could be lost.
 * removing:    Everything said that nothing can be lost; git removes it, and what git refuses stays.
 * preserved:   There is something in it, or the check could not tell. Its record says what, and what to do next; it
 *              stays until a person says otherwise.
 * orphaned:    Its maker is gone and has not said in which state it left it.
 * removed:     Folder, branch and record are gone.
 *
 * A pure lifecycle (see ../lifecycle.ts).
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';
import type { worktreeEvents } from './worktree-events.ts';

export type WorktreeChartEventType = keyof typeof worktreeEvents;

export interface WorktreeChartEvent {
  readonly type: WorktreeChartEventType;
}

const found: ChartNotes = {
  waives: {
    'unbounded-wait': 'When its process dies here, the next one that reconciles finds the record: OWNER_LOST.',
  },
};

export const worktreeMachine = setup({ types: { events: {} as WorktreeChartEvent } }).createMachine({
  id: 'worktree',
  description: 'The life of one worktree that was made for a subagent.',
  meta: {
    unhandled: {
      as: 'rejected',
      because:
        'A record is moved by way of the chart: a move that it does not have is an error, and nothing is written.',
    },
  } satisfies ChartNotes,
  initial: 'absent',
  states: {
    absent: { description: 'Nothing of it is on the disk.', on: { CREATE: 'creating' } },
    creating: {
      description: 'Its record is on the disk; git makes the folder and the branch, and either may be there already.',
      meta: found,
      on: { CREATED: 'ready', CREATE_FAILED: 'absent', CREATE_UNKNOWN: 'orphaned', OWNER_LOST: 'orphaned' },
    },
    ready: {
      description: 'It is whole and an agent works in it; no process checks whether it can go.',
      on: { INSPECT: 'inspecting', OWNER_LOST: 'orphaned' },
    },
    inspecting: {
      description: 'No agent works in it any more; it is being asked whether anything in it could be lost.',
      meta: found,
      on: { CLEAN: 'removing', DIRTY: 'preserved', OWNER_LOST: 'orphaned' },
    },
    removing: {
      description: 'Everything said that nothing can be lost; git removes it, and what git refuses stays.',
      meta: found,
      on: { REMOVED: 'removed', REMOVE_FAILED: 'preserved', OWNER_LOST: 'orphaned' },
    },
    preserved: {
      description:
        'There is something in it, or the check could not tell. Its record says what, and what to do next; it stays until a person says otherwise.',
      on: { ADOPT: 'ready', INSPECT: 'inspecting' },
    },
    orphaned: {
      description: 'Its maker is gone and has not said in which state it left it.',
      on: { ADOPT: 'ready', INSPECT: 'inspecting' },
    },
    removed: { description: 'Folder, branch and record are gone.', type: 'final' },
  },
});

/** The states in which a worktree may be found. */
export type WorktreeStatus = StateValueFrom<typeof worktreeMachine>;

/** The life of a worktree as actor logic. */
export const worktreeLifecycle = compileLifecycle<WorktreeStatus, WorktreeChartEvent>(worktreeMachine);
