/**
 * What an inspector shows in a living runtime: what its recorder sees, and the sessions of its store. Without a
 * recorder, the sessions alone. Everything that leaves it is redacted with what is known by then, and bounded.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { InspectionHeader } from '../../machines/inspection-log/inspection-record.ts';
import { INSPECTION_LOG_FORMAT } from '../../machines/inspection-log/inspection-record.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { PriceTable } from '../../machines/run/prices.ts';
import type { Lack } from '../../machines/session/lack.ts';
import { untakenSince } from '../../machines/session/session-activations.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { Conditions } from '../../machines/session/why-conditions.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { ScheduleRegistry } from '../schedule/durable-registry.ts';
import type { LackedHere } from '../workspace-copy/lacked-here.ts';
import type { Clock } from '../clock/clock.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { SendReceipt } from '../session/ingress.ts';
import type { Sessions } from '../session/sessions.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { ProcessTree } from '../task/process-tree.ts';
import { endProcess } from './end-process.ts';
import { endFarProcess, farProcesses } from './far-processes.ts';
import { redactedFleet } from './fleet-words.ts';
import type { ShownFleet } from './fleet-words.ts';
import type { Fleet } from './fleet.ts';
import type { Redact } from './inspected-text.ts';
import { InspectedText } from './inspected-text.ts';
import type {
  CommandReceipt,
  FarProcesses,
  InspectedChanges,
  InspectedEvents,
  InspectedProcess,
  InspectedSession,
  InspectedSessions,
  InspectionAbout,
  InspectionAnswer,
  InspectionCommand,
  InspectionRecording,
  InspectionSource,
  SpeechFeed,
} from './inspection-source.ts';
import { ProcessReports } from './process-reports.ts';
import type { NotedRecorder } from './recorder-notes.ts';
import { recorderNotes } from './recorder-notes.ts';
import { SaidNow } from './said-now.ts';
import type { RuntimeInspection } from './runtime-inspection.ts';
import { shownSchedules } from './schedule-words.ts';
import { SessionCommands } from './session-command.ts';
import type { SessionCommandsOptions } from './session-command.ts';
import { storeAnswer } from './session-answer.ts';
import type { SessionChangesOptions } from './session-changes.ts';
import { SessionChanges } from './session-changes.ts';
import { SessionList } from './session-list.ts';
import type { SessionProcessesOptions, TaskOutputs } from './session-processes.ts';
import { lastActivityOf, processesOf } from './session-processes.ts';
import { SessionRecordings } from './session-recordings.ts';
import { SessionOverviews } from './session-overview.ts';
import { EVENT_LIMITS, shownData, wholeData } from './shown-data.ts';

// Events of a session's log as they are shown: a page of them, redacted and bounded, as many as fit.

/** Of all events of a page together; a reader that wants more asks from where it ends. */
const PAGE_CHARACTERS = 4 * 1_048_576;

interface EventsPage {
  readonly from: number;
  readonly limit: number;
  readonly text: InspectedText;
  readonly onProblem: (error: unknown) => void;
}

/**
 * At most `limit` events from number `from` on, fewer where they are long or the log is damaged. @throws what the store
 * throws before the first of them
 */
async function eventsFrom(
  sessions: Pick<Sessions, 'events'>,
  sessionId: string,
  { from, limit, text, onProblem }: EventsPage,
): Promise<readonly SessionEvent[]> {
  const page: SessionEvent[] = [];
  let left = PAGE_CHARACTERS;
  try {
    for await (const event of sessions.events(sessionId, { from, limit })) {
      const shown = { ...event, data: shownData(event.data, text, EVENT_LIMITS).value } as SessionEvent;
      left -= JSON.stringify(shown).length;
      if (left < 0 && page.length > 0) break;
      page.push(shown);
    }
  } catch (error) {
    if (page.length === 0) throw error;
    onProblem(error);
  }
  return page;
}

/** The event without secrets. */
function redactedEvent(event: SessionEvent, text: InspectedText): SessionEvent {
  return { ...event, data: wholeData(event.data, text) } as SessionEvent;
}

export interface RuntimeSourceOptions {
  /** In a few words: the name of the program, or of the home. */
  readonly title: string;
  /** Absolute path. */
  readonly home?: string | undefined;
  /** As a word of a command, without a password. Absent: that of the home. */
  readonly store?: string | undefined;
  readonly sessions: Pick<Sessions, 'list' | 'status' | 'events' | 'send' | 'hasWakeDied'>;
  /** Absent: none are taken. */
  readonly commands?: Pick<SessionCommandsOptions, 'sessions' | 'wake'> | undefined;
  readonly clock: Clock;
  /** Absent: there is nothing to check but the sessions. Its maker detaches it, not this source. */
  readonly recorder?: (InspectionRecording & NotedRecorder) | undefined;
  /** Takes secrets out of every text. Asked anew for each: secrets may become known meanwhile. */
  readonly redact?: Redact | undefined;
  readonly agents?: Pick<AgentCatalog, 'get'> | undefined;
  /** One's own prices; the known ones come after them. */
  readonly prices?: PriceTable | undefined;
  /** Of the runtime: its own, and those of its jobs. Absent: no process is known. */
  readonly tasks?: readonly Pick<BackgroundTaskManager, 'list' | 'cancel'>[] | undefined;
  readonly tasksElsewhere?: SessionProcessesOptions['tasksElsewhere'];
  readonly processTree?: Pick<ProcessTree, 'reconcile' | 'usageOf'> | undefined;
  /** Names this process in the logs. */
  readonly owner?: string | undefined;
  readonly outputs?: TaskOutputs | undefined;
  /** Absent: what sessions have changed is not checked. */
  readonly changes?: Pick<SessionChangesOptions, 'folders' | 'workspaceOf' | 'worktrees'> | undefined;
  /** Absent: other workers are unknown. */
  readonly fleet?: Fleet | undefined;
  /** What a session needs and this process has not got. Absent: it is unknown. */
  readonly lackedHere?: LackedHere | undefined;
  /** Absent: they are unknown. */
  readonly schedules?: Pick<ScheduleRegistry, 'list'> | undefined;
  /** What there is around the sessions. Absent: nothing is known of it. */
  readonly conditions?: (() => Promise<Conditions>) | undefined;
  /** What is said in wakes. Absent: it is not heard. */
  readonly live?: RuntimeInspection['live'];
  /** Default true. */
  readonly canAnswer?: boolean | undefined;
  /** Further sentences for `about`, asked anew each time. */
  readonly notes?: (() => readonly string[]) | undefined;
  /** Whether the runtime was shut down. Default: it is found out when its store is closed. */
  readonly hasEnded?: (() => boolean) | undefined;
  /** Hears what the viewer is not told: why something could not be read. */
  readonly onProblem: (error: unknown) => void;
}

/** Of a title, or of a note. */
const MAX_SHOWN_CHARACTERS = 500;
const NO_CHARTS: ReadonlyMap<string, ChartDescription> = new Map();
/** No system takes a longer one. */
const MAX_PATH_CHARACTERS = 4_096;

/** Released with `close`: until then it may hold timers, and follow logs. */
export interface ClosableSource extends InspectionSource {
  /** Idempotent. What was read stays readable. */
  close(): void;
}

export function createRuntimeSource(options: RuntimeSourceOptions): ClosableSource {
  return new RuntimeSource(options);
}

class RuntimeSource implements ClosableSource {
  readonly #options: RuntimeSourceOptions;
  readonly #text: InspectedText;
  readonly #recording: InspectionRecording;
  readonly #list: SessionList;
  readonly #overviews: SessionOverviews;
  readonly #recordings: SessionRecordings;
  readonly #changes: SessionChanges | undefined;
  readonly #reports: ProcessReports | undefined;
  readonly #commands: SessionCommands | undefined;
  readonly command: InspectionSource['command'];
  readonly fleet: InspectionSource['fleet'];
  readonly schedules: InspectionSource['schedules'];
  readonly speech: InspectionSource['speech'];
  #hasStoreClosed = false;

  constructor(options: RuntimeSourceOptions) {
    const { sessions, commands, clock, redact, recorder, changes, fleet, live, onProblem } = options;
    this.#options = options;
    this.fleet =
      fleet === undefined
        ? undefined
        : () =>
            this.#living(async () => redactedFleet(await fleet.check(), (text, most) => this.#text.cut(text, most)));
    this.#text = new InspectedText(redact);
    const { schedules } = options;
    this.schedules = schedules === undefined ? undefined : () => this.#living(() => this.#scheduled(schedules));
    this.#commands = commands === undefined ? undefined : new SessionCommands({ ...commands, clock, onProblem });
    const taking = this.#commands;
    this.command = taking === undefined ? undefined : (...given) => this.#command(taking, ...given);
    const said = new SaidNow(this.#text);
    this.speech = live === undefined ? undefined : (sessionId) => speechOf(live, said, sessionId);
    this.#recording = recorder ?? emptyRecording(clock);
    this.#reports = options.processTree === undefined ? undefined : new ProcessReports(options.processTree, clock);
    const activityOf = (state: SessionState): Promise<string | undefined> => lastActivityOf(state, this.#processes);
    const lacksOf = (state: SessionState): Promise<Lack | undefined> => this.#lacksOf(state);
    const overviews = new SessionOverviews({
      ...options,
      lacksOf,
      text: this.#text,
      workspaceOf: changes?.workspaceOf,
      folders: changes?.folders,
      activityOf,
    });
    this.#overviews = overviews;
    this.#list = new SessionList(sessions, {
      text: this.#text,
      clock,
      conditions: options.conditions,
      lacksOf,
      workOf: (state) => overviews.listedWork(state),
      usualOf: (state, nowMs) => overviews.usualOf(state, nowMs),
      activityOf,
    });
    this.#recordings = new SessionRecordings({
      sessions,
      clock,
      onProblem,
      text: this.#text,
      redacted: (event) => (redact === undefined ? event : redactedEvent(event, this.#text)),
    });
    this.#changes =
      changes === undefined ? undefined : new SessionChanges({ ...changes, clock, onProblem, text: this.#text });
  }

  get header(): InspectionHeader {
    return this.#recording.header;
  }

  range: InspectionSource['range'] = () => this.#recording.range();
  records: InspectionSource['records'] = (from) => this.#recording.records(from);
  follow: InspectionSource['follow'] = (listener) => this.#recording.follow(listener);
  chart: InspectionSource['chart'] = (id) => this.#recording.chart(id);
  toldCharts = (): ReadonlyMap<string, ChartDescription> => this.#recording.toldCharts?.() ?? NO_CHARTS;

  about(): InspectionAbout {
    const { title, home, store, recorder, fleet, canAnswer = true, notes } = this.#options;
    const hasEnded = this.#hasEnded;
    return {
      kind: recorder === undefined ? 'store' : 'runtime',
      title: this.#text.cut(title, MAX_SHOWN_CHARACTERS),
      // Commands are made of it: one that is not told whole would lead elsewhere.
      ...(home !== undefined && this.#text.cut(home, MAX_PATH_CHARACTERS) === home ? { home } : {}),
      ...(store === undefined ? {} : { store: this.#text.cut(store, MAX_SHOWN_CHARACTERS) }),
      hasSessions: true,
      canAnswer: canAnswer && !hasEnded,
      ...(this.#options.commands?.wake !== undefined && canAnswer && !hasEnded ? { canWake: true } : {}),
      ...(fleet === undefined ? {} : { hasFleet: true }),
      ...(this.schedules === undefined ? {} : { hasSchedules: true }),
      notes: [
        ...(hasEnded
          ? ['The runtime has been shut down: nothing is added any more, and its sessions cannot be read here.']
          : []),
        ...(recorder === undefined ? [] : recorderNotes(recorder)),
        ...this.#recordings.notes,
        ...(this.#list.isPartial
          ? ['The sessions are still being read: until then, only those that were made last are listed.']
          : []),
        ...(notes?.() ?? []),
      ].map((note) => this.#text.cut(note, MAX_SHOWN_CHARACTERS)),
      hasEnded,
    };
  }

  async #scheduled(schedules: Pick<ScheduleRegistry, 'list'>): Promise<ShownFleet> {
    const at = new Date(this.#options.clock.now()).toISOString();
    return shownSchedules(await schedules.list(), { at, cut: (text, most) => this.#text.cut(text, most) });
  }

  async recordingOf(sessionId: string): Promise<InspectionRecording | undefined> {
    return this.#living(() => this.#recordings.of(sessionId));
  }

  async sessions({ limit }: { readonly limit: number }): Promise<InspectedSessions> {
    return this.#living(() => this.#list.first(limit));
  }

  async session(sessionId: string): Promise<InspectedSession | undefined> {
    return this.#living(() => this.#overviews.of(sessionId));
  }

  async events(
    sessionId: string,
    { from, limit }: { readonly from: number; readonly limit: number },
  ): Promise<InspectedEvents | undefined> {
    return this.#living(async () => {
      const state = await this.#overviews.stateOf(sessionId);
      if (state === undefined) return undefined;
      const { sessions, onProblem } = this.#options;
      const events = await eventsFrom(sessions, sessionId, { from, limit, text: this.#text, onProblem });
      return { events, head: Math.max(state.head, events.at(-1)?.seq ?? 0) };
    });
  }

  async processes(sessionId: string): Promise<readonly InspectedProcess[]> {
    return this.#living(async () => {
      const state = await this.#overviews.stateOf(sessionId);
      return state === undefined ? [] : processesOf(state, this.#processes);
    });
  }

  /** Asked only where the log says that another program wakes it. One that cannot be asked is as one that says nothing. */
  async farProcesses(sessionId: string): Promise<FarProcesses | undefined> {
    const { fleet, owner, onProblem } = this.#options;
    const { questions } = fleet ?? {};
    if (questions === undefined) return undefined;
    return this.#living(async () => {
      const { openWake } = (await this.#overviews.stateOf(sessionId)) ?? {};
      if (openWake === undefined || openWake.owner === owner) return undefined;
      return farProcesses(sessionId, questions, this.#text).catch((error: unknown): FarProcesses => {
        if (RuntimeError.is(error) && error.code === 'STORE_CLOSED') throw error;
        onProblem(error);
        return { owner: this.#text.cut(openWake.owner, MAX_SHOWN_CHARACTERS), is: 'silent', processes: [] };
      });
    });
  }

  async endProcess(
    sessionId: string,
    pid: number,
    { isFar = false }: { readonly isFar?: boolean | undefined } = {},
  ): Promise<void> {
    this.#refuseWhereReadOnly('wakechart session interrupt');
    const { questions } = this.#options.fleet ?? {};
    if (isFar && questions !== undefined) return this.#living(() => endFarProcess({ sessionId, pid }, questions));
    await this.#living(async () => {
      const state = await this.#overviews.stateOf(sessionId);
      if (state === undefined)
        throw new RuntimeError('SESSION_NOT_FOUND', `there is no session ${sessionId}`, {
          category: 'not_found',
          hint: 'See which there are: wakechart session list',
        });
      await endProcess(state, pid, this.#processes).finally(() => this.#reports?.forget());
    });
  }

  async changes(sessionId: string): Promise<readonly InspectedChanges[]> {
    return this.#living(async () => {
      const state = await this.#overviews.stateOf(sessionId);
      if (state === undefined || this.#changes === undefined) return [];
      return this.#changes.of(state, await this.#overviews.ledgerOf(state));
    });
  }

  async answer(sessionId: string, answer: InspectionAnswer): Promise<SendReceipt> {
    this.#refuseWhereReadOnly('wakechart session confirm-tool` or `wakechart session answer');
    return this.#living(() =>
      storeAnswer(this.#options.sessions, sessionId, answer).finally(() => this.#list.forget()),
    );
  }

  async #command(commands: SessionCommands, sessionId: string, command: InspectionCommand): Promise<CommandReceipt> {
    this.#refuseWhereReadOnly(`wakechart session ${command.type}`);
    return this.#living(async () => {
      const { text } = await commands.take(sessionId, command).finally(() => this.#list.forget());
      return { text: this.#text.cut(text, MAX_SHOWN_CHARACTERS) };
    });
  }

  close(): void {
    this.#commands?.close();
    this.#recordings.close();
  }

  get #processes(): SessionProcessesOptions {
    const { tasks = [], tasksElsewhere, processTree, outputs, onProblem } = this.#options;
    return { tasks, tasksElsewhere, processTree, reports: this.#reports, outputs, onProblem, text: this.#text };
  }

  /** Said, as over HTTP, of what no worker has taken in time: one that was given it may be about to. */
  async #lacksOf(state: SessionState): Promise<Lack | undefined> {
    const { lackedHere, clock } = this.#options;
    return untakenSince(state, clock.now()) === undefined ? undefined : lackedHere?.(state);
  }

  /** @param instead a command */
  #refuseWhereReadOnly(instead: string): void {
    if (this.#options.canAnswer !== false) return;
    throw new RuntimeError('INSPECTION_READ_ONLY', 'this inspector takes no answers and ends nothing', {
      category: 'permission',
      hint: `Use \`${instead}\`.`,
    });
  }

  get #hasEnded(): boolean {
    const { recorder, hasEnded } = this.#options;
    return this.#hasStoreClosed || hasEnded?.() === true || recorder?.isAttached === false;
  }

  /** @throws RuntimeError INSPECTION_ENDED where the store was closed, which is no fault */
  async #living<Value>(check: () => Promise<Value>): Promise<Value> {
    try {
      return await check();
    } catch (cause) {
      if (!RuntimeError.is(cause) || cause.code !== 'STORE_CLOSED') throw cause;
      this.#hasStoreClosed = true;
      throw new RuntimeError(
        'INSPECTION_ENDED',
        'the runtime has been shut down, and its sessions cannot be read any more',
        { category: 'conflict', hint: 'Check the home with `wakechart inspect`.', cause },
      );
    }
  }
}

function speechOf(live: NonNullable<RuntimeInspection['live']>, said: SaidNow, sessionId: string): SpeechFeed {
  return {
    now: () => said.of(live.of(sessionId)),
    follow: (listener) => live.follow(sessionId, () => listener()),
  };
}

/** Nothing was recorded, and nothing will be. */
function emptyRecording(clock: Pick<Clock, 'now'>): InspectionRecording {
  return {
    header: { format: INSPECTION_LOG_FORMAT, boot: 'store', startedAt: clock.now() },
    range: () => ({ first: 1, last: 0 }),
    async *records() {
      // There are none.
    },
    follow: () => () => undefined,
    chart: () => undefined,
  };
}
