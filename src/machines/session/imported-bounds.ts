/**
 * What binds a session whose log came from elsewhere: no less than what its log says, and no less than what binds any
 * other session of its agent.
 */
import type { AgentDefinition } from '../agent/agent-definition.ts';
import { bothOf } from '../permission/handed-down.ts';
import type { Narrowing, Restriction } from './event-parts.ts';
import type { SessionEventData } from './session-event.ts';

type Created = SessionEventData<'session.created'>;

const ASKS: Restriction = { mode: 'ask', deny: [], ask: [] };

/**
 * The author of the log may have cut its bounds out of it, or have put rights into it. So it asks before whatever no
 * rule allows; what it says about rules that allow, another model, a folder of this machine or an owner does not count; and the
 * environment that it names holds besides that of its agent.
 * @param above what binds the session that it works for, where that is here
 */
export function importedBounds(
  { narrowing, restriction: said = ASKS, environmentId, workspace: _workspace, owner: _owner, ...rest }: Created,
  { environment }: Pick<AgentDefinition, 'environment'>,
  above: Restriction | undefined,
): Created {
  const restriction = above === undefined ? said : bothOf(said, above);
  const environments = [
    ...new Set([
      ...(restriction.environments ?? []),
      ...(environmentId === undefined || environmentId === environment ? [] : [environmentId]),
    ]),
  ];
  const left = narrowing === undefined ? {} : narrowingOf(narrowing);
  return {
    ...rest,
    restriction: {
      ...restriction,
      mode: restriction.mode === 'deny' ? 'deny' : 'ask',
      ...(environments.length === 0 ? {} : { environments }),
    },
    ...(Object.keys(left).length === 0 ? {} : { narrowing: left }),
  };
}

/** What of it takes away. */
function narrowingOf({ allow: _allow, model: _model, mode, ...rest }: Narrowing): Narrowing {
  return { ...rest, ...(mode === 'deny' ? { mode } : {}) };
}
