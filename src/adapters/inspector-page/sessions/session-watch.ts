/**
 * What the page knows of one session, kept up to date as long as a person watches: how it stands, and its log, the newest
 * first.
 */
import type { ReadonlySignal } from '@preact/signals';
import { effect, signal } from '@preact/signals';
import type { ShownRequest, ShownSession, ShownSteps } from '../../../actors/inspection/shown-answers.ts';
import type { TranscriptStep } from '../../../machines/inspection-log/transcript-step.ts';
import { timeNow } from '../model/server-watch.ts';
import { failureOf, server } from '../model/transport.ts';
import { now, recording } from '../model/view.ts';
import { whileSeen } from '../model/while-seen.ts';
import { SideViews } from './side-views.ts';

// The events of a session that the page has read: all from one number on to the newest, as far as they can be read.
// Older ones come when the reader asks for them.

type ReadSteps = (sessionId: string, from: number, limit: number) => Promise<ShownSteps>;

const AT_FIRST = 400;
const PAGE = 500;
/** Further behind, the newest are read anew. */
const MAX_BEHIND = 5_000;
/** The oldest are dropped, beyond that. */
const MAX_KEPT = 12_000;

export class SessionLog {
  readonly #sessionId: string;
  readonly #read: ReadSteps;
  /** From this number on they were read. Damage may have left some of them out. */
  #from = 0;
  readonly #steps = signal<readonly TranscriptStep[]>([]);

  constructor(sessionId: string, read: ReadSteps = server.transcript) {
    this.#sessionId = sessionId;
    this.#read = read;
  }

  get steps(): ReadonlySignal<readonly TranscriptStep[]> {
    return this.#steps;
  }

  /** Whether there are older ones that can still be read here. */
  get hasEarlier(): boolean {
    return this.#from > 1;
  }

  /** @param head number of the newest event */
  async readTo(head: number): Promise<void> {
    const last = this.#steps.value.at(-1)?.seq ?? 0;
    // A log that has become shorter is another one.
    if (head < last || head - last > MAX_BEHIND || last === 0) return this.#begin(head);
    this.#keep([...this.#steps.value, ...(await this.#pages(last + 1, head))]);
  }

  async readEarlier(): Promise<void> {
    const first = this.#from;
    if (first <= 1) return;
    const from = Math.max(1, first - AT_FIRST);
    const older = await this.#pages(from, first - 1);
    if (this.#from !== first) return;
    this.#from = from;
    this.#steps.value = [...older, ...this.#steps.value];
  }

  async #begin(head: number): Promise<void> {
    const from = Math.max(1, head - AT_FIRST + 1);
    const steps = await this.#pages(from, head);
    this.#from = from;
    this.#steps.value = steps;
  }

  /** From one number to another, both included, as far as they can be had. */
  async #pages(from: number, to: number): Promise<readonly TranscriptStep[]> {
    const found: TranscriptStep[] = [];
    for (let next = from; next <= to;) {
      const { steps } = await this.#read(this.#sessionId, next, Math.min(PAGE, to - next + 1));
      const last = steps.at(-1)?.seq;
      if (last === undefined || last < next) break;
      // Where damage took events away, later ones are told in their place.
      found.push(...steps.filter(({ seq }) => seq <= to));
      next = last + 1;
    }
    return found;
  }

  #keep(steps: readonly TranscriptStep[]): void {
    if (steps.length === this.#steps.value.length) return;
    if (steps.length > MAX_KEPT) this.#from = steps.at(-MAX_KEPT)?.seq ?? this.#from;
    this.#steps.value = steps.slice(-MAX_KEPT);
  }
}

const EVERY_MS = 5_000;
/** Records come in heaps; one request answers for all of them. */
const SETTLE_MS = 150;
const MAX_WATCHES = 6;
/** Requests that need no answer any more and are still told of. */
const MAX_SETTLED = 5;

export interface Trouble {
  readonly message: string;
  readonly hint: string;
}

export class SessionWatch {
  readonly id: string;
  readonly log: SessionLog;
  readonly sides: SideViews;
  readonly #session = signal<ShownSession | undefined>(undefined);
  readonly #trouble = signal<Trouble | undefined>(undefined);
  readonly #requests = signal<readonly ShownRequest[]>([]);
  readonly #dismissed = new Set<string>();
  #aheadMs = 0;
  #running: Promise<void> | undefined;
  #isAskedAgain = false;

  constructor(id: string) {
    this.id = id;
    this.log = new SessionLog(id);
    this.sides = new SideViews(id);
  }

  /** As it was told last; undefined before that. */
  get session(): ReadonlySignal<ShownSession | undefined> {
    return this.#session;
  }

  /** Why it cannot be brought up to date, where that is so. */
  get trouble(): ReadonlySignal<Trouble | undefined> {
    return this.#trouble;
  }

  /** Those that wait, and before them those that were seen waiting here and do not any more. */
  get requests(): ReadonlySignal<readonly ShownRequest[]> {
    return this.#requests;
  }

  /** How far the clock of the server is ahead of this one, in milliseconds. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  isWaiting(requestId: string): boolean {
    return this.#session.value?.pendingActions.some((request) => request.requestId === requestId) === true;
  }

  dismiss(requestId: string): void {
    this.#dismissed.add(requestId);
    this.#requests.value = this.#requests.value.filter((request) => request.requestId !== requestId);
  }

  /** Checks now, and whenever there may be something new. @returns leaves */
  start(): () => void {
    let settling: ReturnType<typeof setTimeout> | undefined;
    const check = (): void => void this.refresh();
    const stop = effect(() => {
      const { id, watched } = recording.value;
      if (id !== this.id || watched.version === 0) return;
      settling ??= setTimeout(() => {
        settling = undefined;
        if (document.visibilityState === 'visible') check();
      }, SETTLE_MS);
    });
    const leave = whileSeen(check, EVERY_MS);
    return () => {
      stop();
      leave();
      clearTimeout(settling);
    };
  }

  /** One at a time; a caller that asks meanwhile is answered by one more after it. */
  refresh(): Promise<void> {
    if (this.#running !== undefined) {
      this.#isAskedAgain = true;
      return this.#running;
    }
    this.#running = this.#refreshAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #refreshAll(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      await this.#refreshOnce();
    } while (this.#isAskedAgain);
  }

  async #refreshOnce(): Promise<void> {
    try {
      const session = await server.session(this.id);
      const time = timeNow();
      this.#aheadMs = session.at - time;
      // Ages are told against both: a time read seconds ago, on a slow machine, would have them too young.
      now.value = time;
      // The log is read first: what became of a request that waits no more is told in it.
      await this.log.readTo(session.state.head);
      this.#session.value = session;
      this.#keepRequests(session.pendingActions);
      this.#trouble.value = undefined;
      void this.sides.refresh();
    } catch (error) {
      this.#trouble.value = failureOf(error);
    }
  }

  #keepRequests(waiting: readonly ShownRequest[]): void {
    const isWaiting = new Set(waiting.map(({ requestId }) => requestId));
    for (const requestId of isWaiting) this.#dismissed.delete(requestId);
    const settled = this.#requests.value.filter(
      ({ requestId }) => !isWaiting.has(requestId) && !this.#dismissed.has(requestId),
    );
    this.#requests.value = [...settled.slice(-MAX_SETTLED), ...waiting];
  }
}

let wanted: string | undefined;

/** A user who opens this session goes on in it by keyboard. */
export function wantFocus(sessionId: string): void {
  wanted = sessionId;
}

/** Once. */
export function takeFocus(sessionId: string): boolean {
  const isWanted = wanted === sessionId;
  if (isWanted) wanted = undefined;
  return isWanted;
}

const watches = new Map<string, SessionWatch>();

/** The same as long as it is remembered: a reader who comes back sees at once what was seen last. */
export function watchOf(id: string): SessionWatch {
  const found = watches.get(id) ?? new SessionWatch(id);
  watches.delete(id);
  watches.set(id, found);
  for (const oldest of watches.keys()) {
    if (watches.size <= MAX_WATCHES) break;
    watches.delete(oldest);
  }
  return found;
}
