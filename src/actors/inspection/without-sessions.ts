/** The sessions of a source that has none. */
import { RuntimeError } from '../../machines/errors.ts';
import type { InspectionSource } from './inspection-source.ts';

type SessionPart = Pick<
  InspectionSource,
  'recordingOf' | 'sessions' | 'session' | 'events' | 'processes' | 'changes' | 'answer'
>;

/** @param what is checked instead, for people */
export function withoutSessions(what: string): SessionPart {
  return {
    recordingOf: async () => undefined,
    sessions: async () => ({ sessions: [], total: 0 }),
    session: async () => undefined,
    events: async () => undefined,
    processes: async () => [],
    changes: async () => [],
    answer: async () => {
      throw new RuntimeError('SESSION_NOT_FOUND', `there are no sessions in ${what}`, {
        category: 'not_found',
        hint: 'Answer where the session is: in its runtime, or with `wakechart session` over its home.',
      });
    },
  };
}
