/** One thing of a session's life as a bar over time: from when to when, what of that was work, how it ended. */
import type { ActorOutcome } from './actor-outcome.ts';

/** `attempt` of a model step that needed more than one; `request`: what a person or client is asked for. */
export type BarKind = 'session' | 'wake' | 'step' | 'attempt' | 'call' | 'request' | 'child';

/**
 * `waiting`: for a person, another agent, a model that rests. `resting`: nothing happens, as in a session of which no
 * wake runs, or a call that has not begun.
 */
export type BarState = 'working' | 'waiting' | 'resting';

/** From a moment on, until the next part begins or the bar ends. */
export interface BarPart {
  readonly from: number;
  readonly is: BarState;
}

export interface SessionBar {
  /** Its number among all of the session, from 0 on. */
  readonly id: number;
  readonly kind: BarKind;
  readonly parent: SessionBar | undefined;
  /** In the order in which they began. */
  readonly children: readonly SessionBar[];
  readonly label: string;
  /** The event with which it began. */
  readonly event: number;
  /** The one that tells its end. */
  readonly lastEvent?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly from: number;
  /** Absent: it is not over. */
  readonly to?: number | undefined;
  readonly parts: readonly BarPart[];
  /** How it ended. Absent: it is not over, or nothing tells. */
  readonly outcome?: ActorOutcome | undefined;
  /** What is said of it: why it failed, what was decided. */
  readonly told?: string | undefined;
  readonly tokens: number;
  /** In US dollars. Absent: no price is known of any of it. */
  readonly cost?: number | undefined;
  /** Some of it has no known price. */
  readonly isCostPartial: boolean;
  /** Of a child: its session. */
  readonly sessionId?: string | undefined;
}

export type GrowingBar = {
  -readonly [Name in keyof Omit<SessionBar, 'parent' | 'children' | 'parts'>]: SessionBar[Name];
} & {
  readonly parent: GrowingBar | undefined;
  children: GrowingBar[];
  parts: BarPart[];
  /** Whose state depends on its own; not its parent's where that is over or does not wait for it. */
  holder: GrowingBar | undefined;
  /** As it would be without anything in it. */
  own: BarState;
  /** As it is. */
  state: BarState | undefined;
  /** Of those that it holds: how many work or wait. */
  open: number;
  working: number;
};

/** What it is: work within makes it work, and where all within waits, it waits. */
export function stateOfBar({ to, own, open, working }: GrowingBar): BarState | undefined {
  if (to !== undefined) return undefined;
  if (working > 0) return 'working';
  return open > 0 ? 'waiting' : own;
}

/** Nothing is known of what came after. */
export function cutParts(bar: GrowingBar, at: number): void {
  bar.parts = bar.parts.filter(({ from }, index) => index === 0 || from < at);
}
