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
 * absent:      nothing of it is on the disk.
 * creating:    its record is on the disk; git makes the folder and the branch, and either may be there already.
 * ready:       it is whole and somebody works in it. Nobody looks whether it can go.
 * inspecting:  nobody works in it any more; it is being asked whether anything in it could be lost.
 * removing:    everything said that nothing can be lost. Git removes it; what git refuses stays.
 * removed:     folder, branch and record are gone.
 * preserved:   there is something in it, or nobody could tell. Its record says what, and what to do next. It stays until a person says otherwise.
 * orphaned:    whoever made it is gone and has not said in which state it left it.
 *
 * A pure lifecycle (see ../lifecycle.ts).
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import { compileLifecycle } from '../lifecycle.ts';

export type WorktreeChartEventType =
  | 'CREATE'
  | 'CREATED'
  | 'CREATE_FAILED'
  | 'CREATE_UNKNOWN'
  | 'INSPECT'
  | 'CLEAN'
  | 'DIRTY'
  | 'REMOVED'
  | 'REMOVE_FAILED'
  | 'ADOPT'
  | 'OWNER_LOST';

export interface WorktreeChartEvent {
  readonly type: WorktreeChartEventType;
}

export const worktreeMachine = setup({ types: { events: {} as WorktreeChartEvent } }).createMachine({
  id: 'worktree',
  initial: 'absent',
  states: {
    absent: { on: { CREATE: 'creating' } },
    creating: { on: { CREATED: 'ready', CREATE_FAILED: 'absent', CREATE_UNKNOWN: 'orphaned', OWNER_LOST: 'orphaned' } },
    ready: { on: { INSPECT: 'inspecting', OWNER_LOST: 'orphaned' } },
    inspecting: { on: { CLEAN: 'removing', DIRTY: 'preserved', OWNER_LOST: 'orphaned' } },
    removing: { on: { REMOVED: 'removed', REMOVE_FAILED: 'preserved', OWNER_LOST: 'orphaned' } },
    preserved: { on: { ADOPT: 'ready', INSPECT: 'inspecting' } },
    orphaned: { on: { ADOPT: 'ready', INSPECT: 'inspecting' } },
    removed: { type: 'final' },
  },
});

/** The states in which a worktree may be found. */
export type WorktreeStatus = StateValueFrom<typeof worktreeMachine>;

/** The life of a worktree as actor logic. */
export const worktreeLifecycle = compileLifecycle<WorktreeStatus, WorktreeChartEvent>(worktreeMachine);
