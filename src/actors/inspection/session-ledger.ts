/**
 * What the log of a session says that its folded state does not keep: what each wake used, what was asked and why,
 * which jobs there were. Read once, then only what came since.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { callSubject, shortLine } from '../../machines/inspection-log/call-label.ts';
import { OpenTimes, UsualTimes } from '../../machines/inspection-log/usual-times.ts';
import { SessionUsage } from '../../machines/inspection-log/session-usage.ts';
import type { InspectedUsage } from '../../machines/inspection-log/session-usage.ts';
import type { PriceTable } from '../../machines/run/prices.ts';
import type { SessionEvent, SessionEventData } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { letOthersRun } from '../clock/waiting.ts';
import type { Sessions } from '../session/sessions.ts';

/** What was asked in one event. */
export interface Asked {
  /** ISO-8601. */
  readonly at: string;
  readonly input?: unknown;
  readonly because?: string | undefined;
  /** The folder in which the call would run. */
  readonly cwd?: string | undefined;
}

export interface StartedJob {
  readonly jobId: string;
  readonly childSessionId: string;
  readonly title: string;
}

/** Requests that wait at once are fewer. */
const MAX_ASKED = 200;
const MAX_JOBS = 200;
const EVENTS_PER_TURN = 500;
const MAX_LEDGERS = 32;
const MAX_CALLS = 200;
const MAX_OWNERS = 5;
const MAX_AGENTS = 200;

const ENDS_MODEL_WAIT: ReadonlySet<SessionEvent['type']> = new Set([
  'run.candidate_selected',
  'span.started',
  'span.completed',
]);

export class SessionLedger {
  readonly #sessions: Pick<Sessions, 'events'>;
  readonly #sessionId: string;
  readonly createdAt: string | undefined;
  readonly #usage: SessionUsage;
  /** Those without an answer yet, by their request. */
  readonly #asked = new Map<string, Asked>();
  readonly #jobs = new Map<string, StartedJob>();
  readonly #calls = new Map<string, string>();
  readonly #owners = new Map<string, string>();
  readonly #open = new OpenTimes();
  readonly #times: UsualTimes;
  #budget: SessionEventData<'wake.ended'>['budget'];
  #modelWait: SessionEventData<'run.waiting'> | undefined;
  #head = 0;
  #reading: Promise<void> | undefined;

  constructor(
    sessions: Pick<Sessions, 'events'>,
    { sessionId, createdAt }: Pick<SessionState, 'sessionId' | 'createdAt'>,
    prices: PriceTable,
    times: UsualTimes,
  ) {
    this.#times = times;
    this.#sessions = sessions;
    this.#sessionId = sessionId;
    this.createdAt = createdAt;
    this.#usage = new SessionUsage(prices);
  }

  get used(): InspectedUsage {
    return this.#usage.used;
  }

  /** The bound that the last wake reached, where it ended by one. */
  get budget(): SessionEventData<'wake.ended'>['budget'] {
    return this.#budget;
  }

  /** Of the open model step, while no model can be asked. */
  get modelWait(): SessionEventData<'run.waiting'> | undefined {
    return this.#modelWait;
  }

  /** The last of them, the oldest first. */
  get jobs(): readonly StartedJob[] {
    return [...this.#jobs.values()];
  }

  /** What the last calls are about, by their ids: each in one short line. */
  get calls(): ReadonlyMap<string, string> {
    return this.#calls;
  }

  /** Who woke it last, and when, ISO-8601: the last of them last. */
  get owners(): ReadonlyMap<string, string> {
    return this.#owners;
  }

  /** The longest that what runs has taken before with this agent, in milliseconds. Undefined: unknown, or nothing runs. */
  get usualMs(): number | undefined {
    const { kind } = this.#open;
    return kind === undefined ? undefined : this.#times.of(kind);
  }

  asked(requestId: string): Asked | undefined {
    return this.#asked.get(requestId);
  }

  /** Reads what has come since. Several at once read together. */
  catchUp(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #read(): Promise<void> {
    for await (const event of this.#sessions.events(this.#sessionId, { from: this.#head + 1 })) {
      this.#see(event);
      this.#head = event.seq;
      if (event.seq % EVENTS_PER_TURN === 0) await letOthersRun();
    }
  }

  #see(event: SessionEvent): void {
    this.#usage.see(event);
    this.#open.see(event, this.#times);
    if (event.type === 'run.waiting') this.#modelWait = event.data;
    else if (ENDS_MODEL_WAIT.has(event.type)) this.#modelWait = undefined;
    const { at } = event;
    if (event.type === 'permission.requested')
      this.#ask(event.data.requestId, {
        at,
        input: event.data.input,
        because: event.data.because,
        cwd: event.data.cwd,
      });
    else if (event.type === 'agent.custom_tool_use') this.#ask(event.data.requestId, { at, input: event.data.input });
    else if (event.type === 'agent.question_asked')
      this.#ask(event.data.requestId, {
        at,
        ...(event.data.choices === undefined ? {} : { input: { choices: event.data.choices } }),
      });
    else if (
      event.type === 'permission.resolved' ||
      event.type === 'request.cancelled' ||
      event.type === 'user.answer' ||
      event.type === 'user.custom_tool_result'
    )
      this.#asked.delete(event.data.requestId);
    else if (event.type === 'wake.ended') this.#budget = event.data.budget;
    else if (event.type === 'agent.tool_use') this.#call(event.data);
    else if (event.type === 'wake.started') this.#wake(event.data.owner, at);
    else if (event.type === 'subagent.started') this.#start(event.data);
    else if (event.type === 'agent.subflow_started')
      this.#start({ jobId: event.data.callId, childSessionId: event.data.childSessionId, agentId: event.data.agentId });
  }

  #ask(requestId: string, asked: Asked): void {
    this.#asked.set(requestId, asked);
    dropOldest(this.#asked, MAX_ASKED);
  }

  #call({ callId, name, input }: SessionEventData<'agent.tool_use'>): void {
    this.#calls.set(callId, shortLine(callSubject(name, input)));
    dropOldest(this.#calls, MAX_CALLS);
  }

  #wake(owner: string, at: string): void {
    this.#owners.delete(owner);
    this.#owners.set(owner, at);
    dropOldest(this.#owners, MAX_OWNERS);
  }

  #start({
    jobId,
    childSessionId,
    agentId,
    label,
  }: Pick<SessionEventData<'subagent.started'>, 'jobId' | 'childSessionId' | 'agentId' | 'label'>): void {
    this.#jobs.set(jobId, { jobId, childSessionId, title: label ?? agentId });
    dropOldest(this.#jobs, MAX_JOBS);
  }
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}

/** The ledgers of the sessions that were checked last. */
export class SessionLedgers {
  readonly #sessions: Pick<Sessions, 'events'>;
  readonly #prices: PriceTable;
  readonly #ledgers = new Map<string, SessionLedger>();
  /** By agent, from all logs of it that were read. */
  readonly #times = new Map<string, UsualTimes>();

  constructor(sessions: Pick<Sessions, 'events'>, prices: PriceTable) {
    this.#sessions = sessions;
    this.#prices = prices;
  }

  /** As far as its log can be read; `problem`: why no further. */
  async of(
    state: Pick<SessionState, 'sessionId' | 'createdAt' | 'agentId'>,
  ): Promise<{ readonly ledger: SessionLedger; readonly problem?: unknown }> {
    const { sessionId } = state;
    const known = this.#ledgers.get(sessionId);
    // A session may have been deleted and brought back under its id.
    const isSame = known !== undefined && known.createdAt === state.createdAt;
    const ledger = isSame
      ? known
      : new SessionLedger(this.#sessions, state, this.#prices, this.#timesOf(state.agentId));
    this.#ledgers.delete(sessionId);
    this.#ledgers.set(sessionId, ledger);
    dropOldest(this.#ledgers, MAX_LEDGERS);
    try {
      await ledger.catchUp();
      return { ledger };
    } catch (problem) {
      if (RuntimeError.is(problem) && problem.code === 'SESSION_NOT_FOUND') this.#ledgers.delete(sessionId);
      return { ledger, problem };
    }
  }

  #timesOf(agentId: string): UsualTimes {
    const times = this.#times.get(agentId) ?? new UsualTimes();
    this.#times.set(agentId, times);
    dropOldest(this.#times, MAX_AGENTS);
    return times;
  }
}
