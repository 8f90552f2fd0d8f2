/** What an inspector shows where there is nothing but what a recorder sees: no sessions, so nothing to answer. */
import type { Recorder } from './recorder.ts';
import { recorderNotes } from './recorder-notes.ts';
import type { ClosableSource } from './runtime-source.ts';
import { withoutSessions } from './without-sessions.ts';

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
    ...withoutSessions('this program'),
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
