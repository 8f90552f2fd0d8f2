/**
 * The port of what an inspector shows: a living runtime, a log that was stored, or the sessions of a store.
 *
 * An implementation gives plain data only, redacted and bounded: what comes out of here is written to a browser as it
 * is.
 */
import type { InspectedUsage } from '../../machines/inspection-log/session-usage.ts';
import type { InspectionHeader, InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { SessionEvent, SessionEventData } from '../../machines/session/session-event.ts';
import type { PendingAction, SessionState } from '../../machines/session/session-state.ts';
import type { Reason } from '../../machines/session/why-reason.ts';
import type { Explanation } from '../../machines/session/why.ts';
import type { SendReceipt } from '../session/ingress.ts';
import type { ShownFleet } from './fleet-words.ts';
import type { FleetOverview } from './fleet.ts';

/** Numbers of the oldest and the newest record that can be had. Without any, `last` is `first - 1`. */
export interface InspectionRange {
  readonly first: number;
  readonly last: number;
}

export interface InspectedSessionSummary {
  readonly sessionId: string;
  readonly agentId: string;
  readonly title?: string | undefined;
  readonly status: SessionState['status'];
  readonly stopReason?: SessionState['stopReason'];
  /** How many requests wait for a person or client. */
  readonly pendingActions: number;
  /** The first of the reasons why it does what it does. */
  readonly why?: Pick<Reason, 'kind' | 'text' | 'since' | 'until'> | undefined;
  /** Its wake has told nothing for longer than one usually does. */
  readonly isStuck?: true | undefined;
  /** The longest that what runs has taken before with its agent, in milliseconds. Absent: unknown, or not asked for. */
  readonly usualMs?: number | undefined;
  /** ISO-8601: when a call of it that runs told something last, in its log or in what it put out. Absent: none runs. */
  readonly lastActivityAt?: string | undefined;
  /** ISO-8601: of its last event. */
  readonly updatedAt?: string | undefined;
}

export interface InspectedSessions {
  readonly sessions: readonly InspectedSessionSummary[];
  /** How many there are in all, as far as they have been read. */
  readonly total: number;
  /** They are still being read: only those that were made last are here. */
  readonly isPartial?: true | undefined;
}

export interface InspectedSession {
  readonly state: SessionState;
  readonly why: Explanation;
  readonly pendingActions: readonly InspectedRequest[];
  readonly usage: InspectedUsage;
  /** The folder that it works in, absolute. Absent: it is unknown. */
  readonly workspace?: string | undefined;
  /** Who wakes it now. Absent: no wake of it is open. */
  readonly worker?: InspectedWorker | undefined;
  /** Who woke it before, the last one first, as far as it is known whether they are still there. */
  readonly formerWorkers?: readonly InspectedFormerWorker[] | undefined;
  /** As of `InspectedSessionSummary`. */
  readonly isStuck?: true | undefined;
  readonly usualMs?: number | undefined;
  readonly lastActivityAt?: string | undefined;
  /** When this was looked up, in milliseconds since the epoch. */
  readonly at: number;
}

/** The process that wakes a session. */
export interface InspectedWorker {
  /** As the log names it. */
  readonly owner: string;
  /** `this`: the one that shows it. `here`: another on the same machine. `elsewhere`: on another machine. */
  readonly place: 'this' | 'here' | 'elsewhere';
  /** Where the owner is a host and a process. */
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  /** ISO-8601: when the wake began. */
  readonly since: string;
  /** ISO-8601: when it was heard of last, in the log or in what its commands put out. */
  readonly heardAt?: string | undefined;
  /** ISO-8601: by then it has to tell a shared store that it lives, or others take over. */
  readonly aliveUntil?: string | undefined;
  /** As `InspectedProcess`; of other machines it is unknown. */
  readonly processorMs?: number | undefined;
  readonly residentBytes?: number | undefined;
  readonly isSuspended?: true | undefined;
  /** Redacted and bounded. */
  readonly commandLine?: string | undefined;
  /** It is known to be a worker, by its command: one takes up again what was lost. */
  readonly isWorker?: true | undefined;
  /** Who has the right to wake the session now, where that is another: its wake was lost. */
  readonly takenBy?: string | undefined;
}

/** A process of this machine that woke a session before. */
export interface InspectedFormerWorker {
  readonly host: string;
  readonly pid: number;
  readonly state: 'running' | 'suspended' | 'gone';
  /** ISO-8601: when it began to wake it the last time. */
  readonly since: string;
  /** As of `InspectedWorker`. */
  readonly commandLine?: string | undefined;
}

/** A request that waits, with what is asked for. */
export interface InspectedRequest extends PendingAction {
  /** Of the tool call, JSON, redacted and bounded. */
  readonly input?: unknown;
  readonly isCut?: true | undefined;
  /** Why it has to be asked, in words. */
  readonly because?: string | undefined;
  /** The folder in which a call would run, as it was asked about. */
  readonly cwd?: string | undefined;
  /** ISO-8601. */
  readonly askedAt?: string | undefined;
}

/** A process that works for a session. */
export interface InspectedProcess {
  readonly pid: number;
  /** Of the process that it is shown under. */
  readonly parentPid?: number | undefined;
  /** What it is, in words: the command line or the job, redacted. */
  readonly title: string;
  readonly state: 'running' | 'gone' | 'unknown';
  /** Which process started it: this one, another that lives or may live, or one that died. */
  readonly host: 'this' | 'other' | 'dead';
  /** ISO-8601. */
  readonly startedAt?: string | undefined;
  /** When it put out something the last time, ISO-8601. Absent: that is unknown. */
  readonly lastActivityAt?: string | undefined;
  /** The newest lines of that, redacted. Absent: unknown. */
  readonly output?: readonly string[] | undefined;
  /** How long it may take, in milliseconds, where that is known. */
  readonly limitMs?: number | undefined;
  /** Processor time so far, in milliseconds, and memory, in bytes, as far as the system tells. */
  readonly processorMs?: number | undefined;
  readonly residentBytes?: number | undefined;
  /** It was stopped, and does nothing until it is let go on. */
  readonly isSuspended?: true | undefined;
  readonly taskId?: string | undefined;
  /** Where the title does not tell it: redacted and bounded. */
  readonly commandLine?: string | undefined;
}

/** The processes of a session, as the program that wakes it tells them. */
export interface FarProcesses {
  /** The program, as the log names it. */
  readonly owner: string;
  /** `dead`: it does not say any more that it lives. `silent`: it lives, and does not answer. */
  readonly is: 'told' | 'dead' | 'silent';
  readonly processes: readonly InspectedProcess[];
}

/** What has changed in a folder that a session works in, since it began: what was committed, and what was not. */
export interface InspectedChanges {
  /** In words: the workspace, or the worktree of which job. */
  readonly title: string;
  readonly branch?: string | undefined;
  readonly files: readonly InspectedFile[];
  readonly fileCount: number;
  /** A unified difference, redacted: from `since` to the files as they are now. */
  readonly difference: string;
  /** What it is compared with, in words. Absent: nothing is. */
  readonly since?: string | undefined;
  /** Made on the branch since then: the newest 20, the newest first. Absent: it is unknown. */
  readonly commits?: readonly InspectedCommit[] | undefined;
  /** How many there are. */
  readonly commitCount?: number | undefined;
  readonly isCut: boolean;
  /** What git has begun there and not ended, with the files in conflict. */
  readonly underWay?:
    | { readonly what: 'merge' | 'rebase' | 'cherry-pick' | 'revert'; readonly files: readonly string[] }
    | undefined;
  /** Why there is nothing to show, where there is nothing: no repository, a folder that is gone. */
  readonly because?: string | undefined;
}

interface InspectedFile {
  readonly path: string;
  /** Since what it is compared with. */
  readonly change: 'added' | 'changed' | 'removed' | 'renamed' | 'untracked';
  /** It is not as the newest commit has it. */
  readonly isUncommitted?: true | undefined;
}

/** A commit that was made since; by whom is not said: others may work in the same folder. */
interface InspectedCommit {
  readonly hash: string;
  /** Its first line, redacted. */
  readonly subject: string;
  /** ISO-8601, to the second. */
  readonly at: string;
}

export interface InspectedEvents {
  /** In the order of the log, redacted and bounded. */
  readonly events: readonly SessionEvent[];
  /** Number of the newest event of the log. */
  readonly head: number;
}

/** What is said in a session while it is said. No record and no event tells it. */
export interface InspectedSpeech {
  /** In their order, redacted: the end of what the model has said in the step that runs. */
  readonly parts: readonly { readonly kind: 'text' | 'reasoning'; readonly text: string }[];
  /** There is more before them. */
  readonly isCut: boolean;
  /** The log tells all of it, once it is longer than this. Absent: more of it comes. */
  readonly loggedAfter?: number | undefined;
  /** How far the calls that run have come, in words, as far as their tools tell. */
  readonly calls: readonly { readonly callId: string; readonly text: string }[];
}

export interface SpeechFeed {
  /** Undefined: nothing is said. */
  now(): InspectedSpeech | undefined;
  /** Calls the listener at each piece. @returns leaves; idempotent */
  follow(listener: () => void): () => void;
}

/** What a person decided about a request that waits. */
export type InspectionAnswer =
  | {
      readonly type: 'allow';
      readonly requestId: string;
      readonly scope?: SessionEventData<'user.tool_confirmation'>['scope'];
      readonly note?: string | undefined;
    }
  | { readonly type: 'deny'; readonly requestId: string; readonly note?: string | undefined }
  | { readonly type: 'answer'; readonly requestId: string; readonly text: string };

/** What a person has a session do. A wake lets a parked session go on, too. */
export type InspectionCommand =
  | { readonly type: 'wake' }
  | { readonly type: 'interrupt' | 'terminate'; readonly reason?: string | undefined };

export interface CommandReceipt {
  /** What became of it, as a sentence without its end; redacted. */
  readonly text: string;
}

/** What can be checked through time: what was recorded, or the log of one session told as records. */
export interface InspectionRecording {
  readonly header: InspectionHeader;
  range(): InspectionRange;
  /**
   * Pages of records from number `from` (or the oldest that is left) to the newest, in order, each page some hundred or
   * thousand. It ends there.
   */
  records(from: number): AsyncIterable<readonly InspectionRecord[]>;
  /**
   * Calls the listener after records were added, at most once per turn of the event loop: a listener that wants them
   * reads them. @returns leaves; idempotent
   */
  follow(listener: () => void): () => void;
  /** Undefined: no chart of that id was told. */
  chart(id: string): ChartDescription | undefined;
  /** All that were told so far, by their ids, to be drawn ahead. Absent: that is unknown. */
  readonly toldCharts?: (() => ReadonlyMap<string, ChartDescription>) | undefined;
}

export interface InspectionAbout {
  /**
   * `runtime`: a living one, with what its recorder sees. `log`: a stored inspection log. `store`: a home, whose
   * sessions alone can be checked.
   */
  readonly kind: 'runtime' | 'log' | 'store';
  /** What is checked, in a few words: the name of the program, of the file, of the home. */
  readonly title: string;
  /** Absolute path of the home, for commands. Absent: there is none, or it cannot be told whole. */
  readonly home?: string | undefined;
  /** The store of its sessions as a word of a command. Absent: it is the one of the home. */
  readonly store?: string | undefined;
  /** Whether there are sessions, and whether answers to them are taken. */
  readonly hasSessions: boolean;
  readonly canAnswer: boolean;
  /** Whether it wakes sessions. Absent: it does not. */
  readonly canWake?: true | undefined;
  /** Whether it knows of schedules. Absent: it does not. */
  readonly hasSchedules?: true | undefined;
  /** Whether it knows of the workers over its store. Absent: it does not. */
  readonly hasFleet?: true | undefined;
  /**
   * What is missing or damaged, a sentence each: what a recorder could not keep, lines of a log that could not be read,
   * that the runtime has ended.
   */
  readonly notes: readonly string[];
  /** Nothing will be added any more: a log that was read to its end, a runtime that was shut down. */
  readonly hasEnded: boolean;
}

export interface InspectionSource extends InspectionRecording {
  about(): InspectionAbout;
  /**
   * The log of one session, told as records. What follows it costs until it leaves. Undefined: there is no such
   * session.
   */
  recordingOf(sessionId: string): Promise<InspectionRecording | undefined>;
  /** Of the wakes of this process. Absent: none is heard. */
  readonly speech?: ((sessionId: string) => SpeechFeed) | undefined;
  /** Those that changed last first, at most `limit`. */
  sessions(options: { readonly limit: number }): Promise<InspectedSessions>;
  /** Undefined: there is no such session. */
  session(sessionId: string): Promise<InspectedSession | undefined>;
  /** At most `limit` events from number `from` on. Undefined: there is no such session. */
  events(
    sessionId: string,
    options: { readonly from: number; readonly limit: number },
  ): Promise<InspectedEvents | undefined>;
  /** Of the session and of what it has started; none where they are unknown. */
  processes(sessionId: string): Promise<readonly InspectedProcess[]>;
  /** As another program tells them that wakes it. Undefined: none does, or it cannot be asked. */
  readonly farProcesses?: ((sessionId: string) => Promise<FarProcesses | undefined>) | undefined;
  /**
   * Ends what the process belongs to; `isFar`: of those that another program has told. Absent: it cannot. @throws
   * RuntimeError where it is gone, or another living process owns it
   */
  readonly endProcess?:
    | ((sessionId: string, pid: number, options?: { readonly isFar?: boolean | undefined }) => Promise<void>)
    | undefined;
  /** Of its workspace first, then of the worktrees of its jobs. */
  changes(sessionId: string): Promise<readonly InspectedChanges[]>;
  /** Those of the store, with what came of their last runs; `about` says whether they are known. */
  readonly schedules?: (() => Promise<ShownFleet>) | undefined;
  /** What the workers over the store do between them; `about` says whether it is there. */
  readonly fleet?: (() => Promise<FleetOverview>) | undefined;
  /**
   * Stores the answer. The same answer to the same request again gives the first receipt, also after a restart.
   * @throws RuntimeError `conflict` or `not_found` for a request that was answered otherwise, has expired or never was
   */
  answer(sessionId: string, answer: InspectionAnswer): Promise<SendReceipt>;
  /**
   * Does what the command of the same name does. Absent: nothing is taken. @throws RuntimeError where the session does
   * not take it
   */
  readonly command?: ((sessionId: string, command: InspectionCommand) => Promise<CommandReceipt>) | undefined;
}
