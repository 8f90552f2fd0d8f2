/** What two versions of a chart differ in, as semantic versions count it. */

/** `major`: code that relied on the chart may break. `minor`: there is more. `patch`: it reads differently. */
export type Bump = 'none' | 'patch' | 'minor' | 'major';

export interface ChartChange {
  readonly bump: Exclude<Bump, 'none'>;
  readonly kind:
    | 'state-removed'
    | 'state-renamed'
    | 'state-added'
    | 'state-kind'
    | 'initial'
    | 'event-removed'
    | 'event-added'
    | 'event-fields'
    | 'transition-removed'
    | 'transition-added'
    | 'target'
    | 'guard-added'
    | 'guard-removed'
    | 'guard-changed'
    | 'actions'
    | 'invoke'
    | 'delay'
    | 'tags'
    | 'description'
    | 'event-kind'
    | 'unhandled'
    | 'waiver'
    | 'output'
    | 'outcome'
    | 'snapshot'
    | 'path';
  /** Ids in the version before; absent for what is new. */
  readonly before?: string | undefined;
  /** Ids in the version after; absent for what is gone. */
  readonly after?: string | undefined;
  /** One sentence for people. */
  readonly says: string;
}

export interface ChartDiff {
  readonly chart: string;
  readonly bump: Bump;
  /** Sorted by weight, then kind and id. */
  readonly changes: readonly ChartChange[];
}

/**
 * How often each transition was taken, by its id; pairs of transitions taken one after the other by one actor; guards
 * by `transition id` with what they answered.
 */
export interface ChartHits {
  readonly chart: string;
  readonly transitions: Readonly<Record<string, number>>;
  /** By `first > second`. */
  readonly pairs: Readonly<Record<string, number>>;
}

export interface ChartCoverage {
  readonly chart: string;
  /** What was seen to happen, and the ids of what never was. */
  readonly transitions: { readonly seen: number; readonly all: number; readonly missing: readonly string[] };
  /** Entered by transitions that were seen, or at the start where anything was seen. */
  readonly states: { readonly seen: number; readonly all: number; readonly missing: readonly string[] };
  /** Pairs that can follow each other. */
  readonly pairs: { readonly seen: number; readonly all: number; readonly missing: readonly string[] };
  /** Guarded transitions: seen taken, and seen passed over. */
  readonly guards: { readonly seen: number; readonly all: number; readonly missing: readonly string[] };
  /** Sighted ids that the chart does not have: another version of it was seen. */
  readonly unknown: readonly string[];
}
