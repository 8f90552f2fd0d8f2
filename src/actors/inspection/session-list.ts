/** The sessions of a store, those first that wait for an answer. */
import type { SessionState } from '../../machines/session/session-state.ts';
import type { Lack } from '../../machines/session/lack.ts';
import type { Conditions } from '../../machines/session/why-conditions.ts';
import { LEAST_STUCK_MS, isStuck } from '../../machines/inspection-log/session-words.ts';
import type { SessionWork } from '../../machines/session/why-work.ts';
import { explain } from '../../machines/session/why.ts';
import type { ExplainOptions } from '../../machines/session/why.ts';
import type { Clock } from '../clock/clock.ts';
import { letOthersRun, waitFor } from '../clock/waiting.ts';
import type { Sessions } from '../session/sessions.ts';
import type { InspectedText } from './inspected-text.ts';
import type { InspectedSessions, InspectedSessionSummary } from './inspection-source.ts';

const MAX_SHOWN_CHARACTERS = 500;
const SUMMARIES_PER_TURN = 25;
const MAX_KEPT_MS = 10_000;
/** Sessions whose process is asked for at the same time: each takes a connection. */
const ASKED_AT_ONCE = 64;
/** The first answer is not kept waiting for longer: what was made last comes first. */
const PATIENCE_MS = 250;

type ListClock = Pick<Clock, 'now' | 'steadyNow' | 'setTimeout' | 'clearTimeout'>;

/** Whose logs are read for what is usual: as many as stay read. */
const MAX_COMPARED = 32;

type StuckSummary = Pick<InspectedSessionSummary, 'isStuck' | 'usualMs'>;

interface Listed {
  readonly states: readonly SessionState[];
  readonly isPartial: boolean;
}

export interface SessionListOptions {
  readonly text: InspectedText;
  readonly clock: ListClock;
  readonly conditions?: (() => Promise<Conditions>) | undefined;
  /** Of one of those that are listed. Absent: nothing is known of it. */
  readonly workOf?: ((session: SessionState) => Promise<SessionWork>) | undefined;
  /** What it needs and this process has not got. Absent: it is unknown. */
  readonly lacksOf?: ((session: SessionState) => Promise<Lack | undefined>) | undefined;
  readonly activityOf?: ((session: SessionState) => Promise<string | undefined>) | undefined;
  /** The longest that what runs has taken before, in milliseconds. Absent: that is unknown. */
  readonly usualOf?: ((session: SessionState, nowMs: number) => Promise<number | undefined>) | undefined;
}

export class SessionList {
  readonly #sessions: Pick<Sessions, 'list' | 'hasWakeDied'>;
  readonly #text: InspectedText;
  readonly #clock: ListClock;
  readonly #around: Pick<SessionListOptions, 'conditions' | 'workOf' | 'lacksOf' | 'activityOf' | 'usualOf'>;
  /** Several browsers ask at once: the store is asked once. */
  #listing: Promise<readonly SessionState[]> | undefined;
  /** Of what is listed: a list that began before something changed is not kept. */
  #generation = 0;
  /** The last list, and until when it is good, as the steady clock has it. */
  #kept: { readonly states: readonly SessionState[]; readonly until: number } | undefined;
  /** Whether all of them have been read once. */
  #hasRead = false;

  constructor(sessions: Pick<Sessions, 'list' | 'hasWakeDied'>, { text, clock, ...around }: SessionListOptions) {
    this.#sessions = sessions;
    this.#text = text;
    this.#clock = clock;
    this.#around = around;
  }

  /** Whether a caller was given only those that were made last, and the others are still being read. */
  get isPartial(): boolean {
    return !this.#hasRead && this.#listing !== undefined;
  }

  async first(limit: number): Promise<InspectedSessions> {
    const { states, isPartial } = await this.#listed(limit);
    const sorted = states
      .map((state) => ({ state, changedAt: Date.parse(state.updatedAt ?? state.createdAt ?? '') || 0 }))
      .toSorted(byUrgency);
    const sessions: InspectedSessionSummary[] = [];
    const dead = await this.#dead(states);
    const conditions = await this.#around.conditions?.();
    const now = this.#clock.now();
    const stuck = await this.#stuck(
      states.filter(({ sessionId }) => !dead.has(sessionId)),
      now,
    );
    const isUrgent = ({ state: { sessionId } }: Dated): boolean => dead.has(sessionId) || stuck.has(sessionId);
    sorted.sort((one, other) => Number(isUrgent(other)) - Number(isUrgent(one)));
    for (const { state } of sorted.slice(0, limit)) {
      const isWakeDead = dead.has(state.sessionId);
      const work = state.unreadable === undefined ? await this.#around.workOf?.(state) : undefined;
      const lastActivityAt = isWakeDead ? undefined : await this.#around.activityOf?.(state);
      sessions.push({
        ...this.#summary(state, { isWakeDead, conditions, work, lacks: await this.#around.lacksOf?.(state) }),
        ...stuck.get(state.sessionId),
        ...given('lastActivityAt', lastActivityAt),
      });
      // Why it waits is found in its chart; a thousand of those would keep all other work waiting.
      if (sessions.length % SUMMARIES_PER_TURN === 0) await letOthersRun();
    }
    return { sessions, total: states.length, ...(isPartial ? { isPartial } : {}) };
  }

  /** Those whose wake is open in their log, and whose process has died. */
  async #dead(states: readonly SessionState[]): Promise<ReadonlySet<string>> {
    const dead = new Set<string>();
    const open = states.filter(({ openWake, unreadable }) => openWake !== undefined && unreadable === undefined);
    for (let first = 0; first < open.length; first += ASKED_AT_ONCE)
      await Promise.all(
        open.slice(first, first + ASKED_AT_ONCE).map(async ({ sessionId }) => {
          // One that was deleted meanwhile is not there any more at the next list.
          if (await this.#sessions.hasWakeDied(sessionId).catch(() => false)) dead.add(sessionId);
        }),
      );
    return dead;
  }

  /** Those that run and have told nothing for longer than is usual. */
  async #stuck(states: readonly SessionState[], nowMs: number): Promise<ReadonlyMap<string, StuckSummary>> {
    const stuck = new Map<string, StuckSummary>();
    const silent = states.filter(
      ({ openWake, updatedAt }) => openWake !== undefined && nowMs - Date.parse(updatedAt ?? '') >= LEAST_STUCK_MS,
    );
    for (const [index, state] of silent.entries()) {
      const { usualOf, activityOf } = this.#around;
      const usualMs = index < MAX_COMPARED ? await usualOf?.(state, nowMs) : undefined;
      if (!isStuck(state, nowMs, { usualMs })) continue;
      if (!isStuck(state, nowMs, { usualMs, lastActivityAt: await activityOf?.(state) })) continue;
      stuck.set(state.sessionId, { isStuck: true, ...(usualMs === undefined ? {} : { usualMs }) });
    }
    return stuck;
  }

  /** Something has changed: the next list is a new one. */
  forget(): void {
    this.#generation += 1;
    this.#kept = undefined;
    this.#listing = undefined;
  }

  /** All of them; the first time, where that takes long, those that were made last. */
  async #listed(limit: number): Promise<Listed> {
    const all = this.#states().then((states) => ({ states, isPartial: false }));
    if (this.#hasRead || !(await this.#takesLong(all))) return all;
    const newest = this.#sessions.list({ newest: limit }).then((states) => ({ states, isPartial: true }));
    // What fails is told by the one that is waited for: the other is asked again.
    newest.catch(() => undefined);
    return Promise.race([all, newest]);
  }

  async #takesLong(work: Promise<unknown>): Promise<boolean> {
    return (await waitFor(work, { clock: this.#clock, timeoutMs: PATIENCE_MS })) === 'timed_out';
  }

  async #states(): Promise<readonly SessionState[]> {
    if (this.#kept !== undefined && this.#clock.steadyNow() < this.#kept.until) return this.#kept.states;
    if (this.#listing !== undefined) return this.#listing;
    const listing = this.#list().finally(() => {
      if (this.#listing === listing) this.#listing = undefined;
    });
    this.#listing = listing;
    return listing;
  }

  /**
   * A list is kept for as long as it took, so that a caller that asks again and again takes up half of the time of a
   * slow store at most.
   */
  async #list(): Promise<readonly SessionState[]> {
    const began = this.#clock.steadyNow();
    const generation = this.#generation;
    const states = await this.#sessions.list();
    this.#hasRead = true;
    const now = this.#clock.steadyNow();
    if (generation === this.#generation) this.#kept = { states, until: now + Math.min(now - began, MAX_KEPT_MS) };
    return states;
  }

  #summary(
    state: SessionState,
    known: Pick<ExplainOptions, 'isWakeDead' | 'conditions' | 'work' | 'lacks'>,
  ): InspectedSessionSummary {
    const { sessionId, agentId, title, status, stopReason, pendingActions, updatedAt } = state;
    const now = this.#clock.now();
    const [reason] = explain(state, now, known).reasons;
    return {
      sessionId,
      agentId: this.#shown(agentId),
      ...(title === undefined ? {} : { title: this.#shown(title) }),
      status,
      ...(stopReason === undefined ? {} : { stopReason }),
      pendingActions: pendingActions.length,
      ...(reason === undefined
        ? {}
        : {
            why: {
              kind: reason.kind,
              text: this.#shown(reason.text),
              ...given('since', reason.since),
              ...given('until', reason.until),
            },
          }),
      ...given('updatedAt', updatedAt),
    };
  }

  #shown(text: string): string {
    return this.#text.cut(text, MAX_SHOWN_CHARACTERS);
  }
}

function given<Name extends string>(name: Name, value: string | undefined): { readonly [Key in Name]?: string } {
  // A computed key is any string to the compiler.
  return value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]: string });
}

interface Dated {
  readonly state: SessionState;
  /** Milliseconds since the epoch; 0 where it is unknown. */
  readonly changedAt: number;
}

/** Ids of sessions rise with the time at which they were made. */
function byUrgency(one: Dated, other: Dated): number {
  const waiting = Number(other.state.pendingActions.length > 0) - Number(one.state.pendingActions.length > 0);
  if (waiting !== 0) return waiting;
  if (one.changedAt !== other.changedAt) return other.changedAt - one.changedAt;
  return one.state.sessionId < other.state.sessionId ? 1 : -1;
}
