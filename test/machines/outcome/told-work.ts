/** Logs of work towards an outcome, told step by step. */
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { gradeOf } from '../../../src/machines/outcome/outcome-grade.ts';
import type { CheckEnding, Evaluation, Judgement } from '../../../src/machines/outcome/outcome-verdict.ts';
import { weigh } from '../../../src/machines/outcome/outcome-verdict.ts';
import { WorkRecorder } from '../../../src/machines/outcome/work-record.ts';
import type { WorkRecord } from '../../../src/machines/outcome/work-record.ts';
import type { SessionEventData, SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import { created, foldAll, logOf } from '../../support/session-events.ts';

let calls = 0;

export interface ToldCall {
  readonly name: string;
  readonly input?: unknown;
  readonly outcome?: SessionEventData<'agent.tool_result'>['outcome'];
  readonly output?: unknown;
  readonly by?: 'backend';
  readonly isReadOnly?: true;
  readonly callId?: string;
}

/** A call from its request to its result. */
export function call({
  name,
  input = {},
  outcome = 'completed',
  output = null,
  by,
  isReadOnly,
  callId = `call_${(calls += 1)}`,
}: ToldCall): SessionEventDraft[] {
  return [
    { type: 'agent.tool_use', data: { callId, name, input, spanId: 'span', ...(by === undefined ? {} : { by }) } },
    ...(by === undefined
      ? [{ type: 'agent.tool_started', data: { callId, ...(isReadOnly === undefined ? {} : { isReadOnly }) } } as const]
      : []),
    { type: 'agent.tool_result', data: { callId, name, outcome, output } },
  ];
}

export const runs = (
  command: string,
  exitCode = 0,
  output = 'ℹ tests 3\nℹ pass 3',
  more: object = {},
): SessionEventDraft[] =>
  call({ name: 'shell_run', input: { command, ...more }, output: { output, exitCode, signalCode: null } });

export const writes = (path: string): SessionEventDraft[] =>
  call({ name: 'write', input: { path, content: 'text' }, output: { path, action: 'replaced', lines: 1, bytes: 4 } });

export const says = (text: string): SessionEventDraft[] => [{ type: 'agent.message', data: { text, spanId: 'span' } }];

export const wanted = (data: Partial<SessionEventData<'user.define_outcome'>> = {}): SessionEventDraft => ({
  type: 'user.define_outcome',
  data: { title: 'The tests pass.', ...data },
});

export interface ToldEvaluation {
  readonly state: SessionState;
  readonly record: WorkRecord;
  readonly evaluation: Evaluation;
}

export interface ToldWords {
  readonly checks?: readonly CheckEnding[];
  readonly judgement?: Judgement;
  readonly disturbance?: string;
  readonly forkOf?: { readonly sessionId: string; readonly seq: number };
}

/** What an evaluation of a session says whose log holds these events; what came in was read. */
export function evaluated(drafts: readonly SessionEventDraft[], { forkOf, ...words }: ToldWords = {}): ToldEvaluation {
  const events = logOf(created, ...drafts);
  const folded = foldAll(events);
  const state: SessionState = {
    ...folded,
    pending: [],
    unansweredResults: 0,
    ...(forkOf === undefined ? {} : { forkOf }),
  };
  const recorder = new WorkRecorder({
    sinceSeq: state.outcome?.seq ?? state.head,
    copiedThroughSeq: forkOf?.seq ?? 0,
    isWhole: true,
  });
  for (const event of events) recorder.ingest(event);
  const record = recorder.record();
  if (state.outcome === undefined) throw new Error('no outcome was told');
  return {
    state,
    record,
    evaluation: weigh({
      outcome: state.outcome,
      grade: gradeOf({ state, record }),
      record,
      checks: [],
      readCommand: readShell,
      ...words,
    }),
  };
}

export const passedCheck = (of: CheckEnding['of'] = 'outcome'): CheckEnding => ({
  of,
  command: 'npm run verify',
  ended: { kind: 'exited', exitCode: 0 },
});
