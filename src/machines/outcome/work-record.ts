/**
 * What a session has done since its outcome was defined, folded from its log: calls, what became of them, and what they
 * may have changed. No text of the agent is kept.
 */
import { beginningOf } from '../cut-text.ts';
import type { SessionEvent, SessionEventOf } from '../session/session-event.ts';
import { isRecord } from '../validate.ts';
import { saysNothingTested } from './test-command.ts';

/** Calls beyond which the oldest are forgotten, and the record says that it is not whole. */
export const MAX_RECORDED_CALLS = 5_000;

const MAX_COMMAND_CHARACTERS = 10_000;

export interface RecordedCall {
  readonly callId: string;
  readonly name: string;
  /** Of the event that asked for it. */
  readonly seq: number;
  /** What it was about, as its input says: a command line, or a path. */
  readonly command?: string | undefined;
  readonly path?: string | undefined;
  /** The folder in which it was to run, where that is not the workspace. */
  readonly folder?: string | undefined;
  /** A backend says that it has run it: this runtime has not. */
  readonly isBackends?: true | undefined;
  /** Of the event that says that it begins to take effect. Absent: it never did here. */
  readonly startedSeq?: number | undefined;
  readonly isReadOnly?: true | undefined;
  readonly result?: CallEnding | undefined;
}

export interface CallEnding {
  readonly seq: number;
  readonly outcome: SessionEventOf<'agent.tool_result'>['data']['outcome'];
  /** Of a command that has ended by itself. */
  readonly exitCode?: number | undefined;
  /** Its output says that there was nothing to test. */
  readonly saysNothingTested?: true | undefined;
}

export interface WorkRecord {
  /** Of the event that defined the outcome: nothing before it counts. */
  readonly sinceSeq: number;
  /** Nothing up to here speaks for the outcome: it was done in another session, whose log was copied. */
  readonly copiedThroughSeq: number;
  /** The last event that was checked. */
  readonly throughSeq: number;
  /** Whether everything from `sinceSeq` on was checked and is kept. */
  readonly isWhole: boolean;
  /** In the order in which they were asked for. */
  readonly calls: ReadonlyMap<string, RecordedCall>;
  /** Work that was given to other agents: what they change is in their logs. */
  readonly delegatedAtSeqs: readonly number[];
}

export interface RecordedStretch {
  readonly sinceSeq: number;
  readonly copiedThroughSeq: number;
  /** Whether the log is read from `sinceSeq` on. */
  readonly isWhole: boolean;
}

/** Collects a record event by event; an event costs the same whatever came before it. */
export class WorkRecorder {
  readonly #stretch: RecordedStretch;
  readonly #calls = new Map<string, RecordedCall>();
  readonly #delegatedAtSeqs: number[] = [];
  #throughSeq = 0;
  #hasForgotten = false;

  constructor(stretch: RecordedStretch) {
    this.#stretch = stretch;
  }

  ingest(event: SessionEvent): void {
    this.#throughSeq = event.seq;
    if (event.seq <= this.#stretch.sinceSeq) return;
    if (event.type === 'agent.tool_use') this.#asked(event);
    else if (event.type === 'agent.tool_started')
      this.#change(event.data.callId, {
        startedSeq: event.seq,
        ...(event.data.isReadOnly === true ? { isReadOnly: true } : {}),
      });
    else if (event.type === 'agent.tool_result') this.#ended(event);
    else if (event.type === 'agent.subflow_started' || event.type === 'subagent.started')
      this.#delegatedAtSeqs.push(event.seq);
  }

  record(): WorkRecord {
    const { sinceSeq, copiedThroughSeq, isWhole } = this.#stretch;
    return {
      sinceSeq,
      copiedThroughSeq,
      throughSeq: this.#throughSeq,
      isWhole: isWhole && !this.#hasForgotten,
      calls: new Map(this.#calls),
      delegatedAtSeqs: [...this.#delegatedAtSeqs],
    };
  }

  #asked({ seq, data: { callId, name, input, by } }: SessionEventOf<'agent.tool_use'>): void {
    // The ids of calls are unique in a session; of two with one id the later is meant.
    this.#calls.delete(callId);
    this.#calls.set(callId, {
      callId,
      name,
      seq,
      ...subjectOf(input),
      ...(by === undefined ? {} : { isBackends: true }),
    });
    if (this.#calls.size <= MAX_RECORDED_CALLS) return;
    const [oldest] = this.#calls.keys();
    this.#calls.delete(oldest ?? callId);
    this.#hasForgotten = true;
  }

  #ended({ seq, data: { callId, name, outcome, output } }: SessionEventOf<'agent.tool_result'>): void {
    const result = { seq, outcome, ...endingOf(outcome === 'completed' ? output : undefined) };
    // Begun before the outcome was defined: that it is not known what it did counts all the same.
    if (!this.#calls.has(callId)) this.#calls.set(callId, { callId, name, seq });
    const path = isRecord(output) && typeof output['path'] === 'string' ? { path: output['path'] } : {};
    this.#change(callId, { result, ...path });
  }

  #change(callId: string, change: Partial<RecordedCall>): void {
    const call = this.#calls.get(callId);
    // One that began before the outcome was defined may go on after it.
    this.#calls.set(callId, {
      ...(call ?? { callId, name: 'a call that began before', seq: this.#throughSeq }),
      ...change,
    });
  }
}

function subjectOf(input: unknown): Pick<RecordedCall, 'command' | 'path' | 'folder'> {
  if (!isRecord(input)) return {};
  const { command, path, cwd } = input;
  return {
    ...(typeof command === 'string' ? { command: beginningOf(command, MAX_COMMAND_CHARACTERS) } : {}),
    ...(typeof path === 'string' ? { path } : {}),
    ...(typeof cwd !== 'string' || cwd === '.' || cwd === './' ? {} : { folder: cwd }),
  };
}

function endingOf(output: unknown): Pick<CallEnding, 'exitCode' | 'saysNothingTested'> {
  if (!isRecord(output)) return {};
  const { exitCode, output: text } = output;
  return {
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
    ...(typeof text === 'string' && saysNothingTested(text) ? { saysNothingTested: true as const } : {}),
  };
}
