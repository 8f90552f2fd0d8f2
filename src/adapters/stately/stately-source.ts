/**
 * What was received, as a source for the inspector: its recording, beside the sessions of another source where there is
 * one.
 */
import type { InspectionSource } from '../../actors/inspection/inspection-source.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { ReceivedPrograms } from './received-programs.ts';

export interface StatelySourceParts {
  readonly url: string;
  readonly programs: ReceivedPrograms;
  readonly base: InspectionSource | undefined;
}

export function statelySource({ url, programs, base }: StatelySourceParts): InspectionSource {
  const { recording } = programs;
  return {
    header: recording.header,
    range: () => recording.range(),
    records: (from) => recording.records(from),
    follow: (listener) => recording.follow(listener),
    chart: (id) => recording.chart(id),
    about: () => aboutOf({ url, programs, base }),
    recordingOf: async (sessionId) => base?.recordingOf(sessionId),
    sessions: async (options) => (base === undefined ? { sessions: [], total: 0 } : base.sessions(options)),
    session: async (sessionId) => base?.session(sessionId),
    events: async (sessionId, options) => base?.events(sessionId, options),
    processes: async (sessionId) => (base === undefined ? [] : base.processes(sessionId)),
    changes: async (sessionId) => (base === undefined ? [] : base.changes(sessionId)),
    answer: async (sessionId, answer) => {
      if (base !== undefined) return base.answer(sessionId, answer);
      throw new RuntimeError(
        'INSPECTOR_NO_SESSIONS',
        'expected a home with sessions, and there is none: only other programs are shown here',
        { category: 'not_found', hint: 'Start wakechart inspect with --home.' },
      );
    },
  };
}

function aboutOf({ url, programs, base }: StatelySourceParts): ReturnType<InspectionSource['about']> {
  const about = base?.about();
  return {
    kind: 'log',
    ...(about?.home === undefined ? {} : { home: about.home }),
    title: about === undefined ? `XState programs at ${url}` : `XState programs at ${url}, and ${about.title}`,
    hasSessions: about?.hasSessions ?? false,
    canAnswer: about?.canAnswer ?? false,
    notes: [...programs.notes, ...(about?.notes ?? [])],
    hasEnded: programs.isClosed,
  };
}
