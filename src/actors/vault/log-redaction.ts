/**
 * Takes secrets out of every event on its way into a log, also where its writer was given none: a child, a job, a
 * process that tells a parent.
 */
import type { SessionEventDraft, SessionEventType } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { EnvironmentCatalog } from '../environment/environment-catalog.ts';
import type { LogRedaction } from '../session/session-journal.ts';
import type { SessionVaults } from './open-vaults.ts';

/**
 * What another session has said, or a program: it may come to a process in which no wake has opened the vaults of the
 * one that hears it.
 */
const SAID_BY_OTHERS: ReadonlySet<SessionEventType> = new Set([
  'session.child_idle',
  'subagent.ended',
] satisfies SessionEventType[]);

export interface LogRedactionPorts {
  readonly catalog: Pick<EnvironmentCatalog, 'get'>;
  readonly vaults: SessionVaults;
}

export function createLogRedaction({ catalog, vaults }: LogRedactionPorts): LogRedaction {
  const known = new Set<string>();
  const open = async (environmentId: string, { sessionId, agentId }: SessionState): Promise<void> => {
    try {
      const { vaults: takenOut } = await catalog.get(environmentId);
      await vaults.open({ sessionId, agentId }, [], { takenOut });
      known.add(environmentId);
    } catch {
      // The event has to be stored in any case. The next one tries again, and wakes say what is wrong.
    }
  };
  return {
    lookUp(drafts, state) {
      if (!drafts.some(({ type }) => SAID_BY_OTHERS.has(type))) return undefined;
      const unknown = environmentsOf(state).filter((environmentId) => !known.has(environmentId));
      return unknown.length === 0
        ? undefined
        : Promise.all(unknown.map((environmentId) => open(environmentId, state))).then(() => undefined);
    },
    drafts: (drafts: readonly SessionEventDraft[]) => vaults.known.drafts(drafts),
  };
}

/** That in which it works, and those of the sessions that it works for. */
function environmentsOf({ environment, environmentId, restriction }: SessionState): readonly string[] {
  return [...new Set([environment?.environmentId ?? [], environmentId ?? [], restriction?.environments ?? []].flat())];
}
