/** What an inspector shows where there is nothing but what a recorder sees: no sessions, so nothing to answer. */
import { RuntimeError } from '../../machines/errors.ts';
import type { InspectionSource } from './inspection-source.ts';
import type { Recorder } from './recorder.ts';
import { recorderNotes } from './recorder-notes.ts';
import type { ClosableSource } from './runtime-source.ts';

export interface RecorderSourceOptions {
  readonly recorder: Pick<
    Recorder,
    'header' | 'range' | 'records' | 'follow' | 'chart' | 'toldCharts' | 'isAttached' | 'statistics'
  >;
  /** In a few words: the name of the program. */
  readonly title: string;
}

export function createRecorderSource({ recorder, title }: RecorderSourceOptions): ClosableSource {
  return {
    ...withoutSessions(),
    header: recorder.header,
    range: () => recorder.range(),
    records: (from) => recorder.records(from),
    follow: (listener) => recorder.follow(listener),
    chart: (id) => recorder.chart(id),
    toldCharts: () => recorder.toldCharts(),
    about: () => ({
      kind: 'runtime',
      title,
      hasSessions: false,
      canAnswer: false,
      notes: recorderNotes(recorder),
      hasEnded: !recorder.isAttached,
    }),
    // The maker of the recorder detaches it.
    close: () => undefined,
  };
}

type SessionPart = Pick<
  InspectionSource,
  'recordingOf' | 'sessions' | 'session' | 'events' | 'processes' | 'changes' | 'answer'
>;

/** The sessions of a source that has none. */
function withoutSessions(): SessionPart {
  return {
    recordingOf: async () => undefined,
    sessions: async () => ({ sessions: [], total: 0 }),
    session: async () => undefined,
    events: async () => undefined,
    processes: async () => [],
    changes: async () => [],
    answer: async () => {
      throw new RuntimeError('SESSION_NOT_FOUND', 'there are no sessions in this program', {
        category: 'not_found',
        hint: 'Answer where the session is: in its runtime, or with `wakechart session` over its home.',
      });
    },
  };
}
