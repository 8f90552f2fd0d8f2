/** What an audit of a chart says. Plain JSON, sorted, without times: the same chart gives the same bytes. */
import type { ChartDescription } from './chart-description.ts';

/**
 * What a leaf state does with an event. `handled`: some transition is always taken. `conditional`: only where a guard
 * allows it. `forbidden`: taken, and nothing happens, by decision. `ignored`: nothing is taken, and the sender is not
 * told. `rejected`: nothing is taken, and the code that drives the chart refuses it. `final`: the state takes nothing
 * any more.
 */
type EventClass = 'handled' | 'conditional' | 'ignored' | 'forbidden' | 'rejected' | 'final';

export interface MatrixCell {
  readonly state: string;
  readonly event: string;
  readonly class: EventClass;
  /** Ids of the transitions in question, in the order in which they are tried. */
  readonly transitions: readonly string[];
  /** The outer state that takes it, where the leaf itself has no transition for it. */
  readonly inheritedFrom?: string | undefined;
  /** Outer states that would take it too, and never get to. */
  readonly masks: readonly string[];
  /**
   * Of a leaf inside a parallel state: transitions of the regions beside it that may take the event. The class tells of
   * the leaf and its outer states alone; what is `ignored` here and taken beside is not lost. Absent where there is
   * none.
   */
  readonly beside?: readonly string[] | undefined;
}

/**
 * `witnessed`: a path of events leads there. `structural`: a path of transitions does, and the events are not found.
 * `unreachable`: neither.
 */
type Reach = 'witnessed' | 'structural' | 'unreachable';

export interface StateReach {
  readonly state: string;
  readonly reach: Reach;
  /**
   * The shortest path from the start, where witnessed. Empty for where it starts. Each step is the event as people say
   * it: `STOP`, `done(fetch)`, `after(soon)`, and with what it carries where several samples of it were tried: `ANSWER
   * {"outcome":"failed"}`.
   */
  readonly path: readonly string[];
  /**
   * The path leads through it and out of it again at once: it is left without an event, or is a history state. Absent
   * where a machine can stay in it.
   */
  readonly isPassed?: true | undefined;
}

export const AUDIT_RULES = [
  'unreachable-state',
  'unused-transition',
  'ignored-command',
  'undeclared-event',
  'unhandled-event',
  'dead-end',
  'guarded-exit',
  'cannot-terminate',
  'unbounded-wait',
  'invoke-without-error',
  'invoke-without-done',
  'swallowing-wildcard',
  'shadowed-transition',
  'overlapping-transitions',
  'eventless-loop',
  'timer-not-durable',
  'inline-operation',
  'failing-operation',
  'one-sided-guard',
  'final-transition',
  'repeated-guard',
  'missing-implementation',
  'unheard-raise',
  'unknown-sample',
  'unknown-waiver',
  'exploration-cut',
] as const;

export type AuditRule = (typeof AUDIT_RULES)[number];

export interface Finding {
  readonly rule: AuditRule;
  readonly severity: 'error' | 'warning' | 'note';
  /** Id of the state it is about; the root is the empty string. */
  readonly state: string;
  readonly event?: string | undefined;
  readonly transition?: string | undefined;
  /** One sentence for people. */
  readonly says: string;
  /** What to do, as a sentence. */
  readonly hint: string;
  /** The reason that the chart gives for letting it stand. A waived finding is no error. */
  readonly waived?: string | undefined;
}

export interface ChartAudit {
  readonly format: 'chart-audit/1';
  readonly chart: ChartDescription;
  readonly about?: string | undefined;
  /** Every leaf state with every event, in the order of the description. */
  readonly matrix: readonly MatrixCell[];
  readonly reach: readonly StateReach[];
  /** Of parallel charts: configurations that were seen, each as its leaves; of others one leaf each. */
  readonly configurations: readonly {
    readonly value: unknown;
    readonly leaves: readonly string[];
    readonly path: readonly string[];
  }[];
  /** Sorted by severity, then state, rule and event. */
  readonly findings: readonly Finding[];
  readonly timers: readonly { readonly state: string; readonly delay: number | string; readonly transition: string }[];
  readonly invokes: readonly {
    readonly state: string;
    readonly id: string;
    readonly source: string;
    readonly handlesDone: boolean;
    readonly handlesError: boolean;
  }[];
  /**
   * What was tried: snapshots that differ in state, context or history, and the transitions that were taken on the way.
   * Incomplete: a limit was met.
   */
  readonly exploration: { readonly snapshots: number; readonly isComplete: boolean; readonly taken: readonly string[] };
  /**
   * Names in use, each with the transitions where, and with the answers that were seen while the chart was explored.
   */
  readonly guards: readonly {
    readonly name: string;
    readonly usedBy: readonly string[];
    readonly hasHeld: boolean;
    readonly hasFailed: boolean;
  }[];
  /** Names in use, each with the transitions or states where. */
  readonly actions: readonly { readonly name: string; readonly usedBy: readonly string[] }[];
  readonly counts: {
    readonly states: number;
    readonly leaves: number;
    readonly transitions: number;
    readonly events: number;
    readonly errors: number;
    readonly warnings: number;
    readonly notes: number;
    readonly waived: number;
  };
}
