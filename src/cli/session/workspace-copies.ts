/** Where the folder of a session is at home, as commands say it. */
import type { WorkspaceCopyStates } from '../../actors/workspace-copy/copy-store.ts';
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import { environmentNames } from '../../actors/environment/environment-names.ts';
import { lackedHere } from '../../actors/workspace-copy/lacked-here.ts';
import type { LackedHere } from '../../actors/workspace-copy/lacked-here.ts';
import type { Lack } from '../../machines/session/lack.ts';
import type { WorkspaceCopyState } from '../../machines/workspace-copy/copy-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { hostIdOf } from '../../adapters/workspace-copy-files/host-id.ts';
import type { CommandContext } from '../context.ts';
import { environmentsOf } from '../open/environments.ts';
import { printable } from '../terminal/text.ts';

/** The machine that has the folder of a session. */
export interface CopyHome {
  readonly host: string;
  /** Why no other machine wakes it. Absent: any does. */
  readonly bound?: string | undefined;
  /** The wake that the newest copy of the folder was made by, if there is one. */
  readonly copyOfWake?: number | undefined;
}

/** Undefined where no other machine shares the store, no worker has woken it yet, or it was unbound. */
export async function homeOf(
  sessionId: string,
  workspaceCopies: Pick<WorkspaceCopyStates, 'latest'> | undefined,
): Promise<CopyHome | undefined> {
  return asHome(await workspaceCopies?.latest(sessionId));
}

/** The machine that has the folder of a session, where that is another one than this with its home directory. */
export async function homeElsewhere(
  sessionId: string,
  {
    workspaceCopies,
    home,
  }: { readonly workspaceCopies: Pick<WorkspaceCopyStates, 'latest'> | undefined; readonly home: string },
): Promise<CopyHome | undefined> {
  const state = await workspaceCopies?.latest(sessionId);
  if (state?.host === undefined || state.host.id === (await hostIdOf(home))) return undefined;
  return asHome(state);
}

/** By id: then every worker that is given no more than this command leaves the session to others. */
export interface MissingHere {
  readonly agentMissingHere?: string | undefined;
  readonly environmentMissingHere?: string | undefined;
}

type NeedsOfSession = Parameters<LackedHere>[0] & Pick<SessionState, 'status'>;

/** What a session needs and neither the home nor a config that is known has got. */
export function lacksOf(
  context: Pick<CommandContext, 'home' | 'config'>,
  agents: Pick<AgentCatalog, 'get'>,
): (session: NeedsOfSession) => Promise<Lack | undefined> {
  const catalog = environmentsOf(context);
  const lacked = lackedHere({ agents, environments: environmentNames({ catalog }), catalog });
  return async (session) => (session.status === 'terminated' ? undefined : lacked(session));
}

export function missingHere(lacks: Lack | undefined): MissingHere {
  if (lacks === undefined) return {};
  return lacks.what === 'agent' ? { agentMissingHere: lacks.id } : { environmentMissingHere: lacks.id };
}

function asHome({ host, bound, copy }: Partial<WorkspaceCopyState> = {}): CopyHome | undefined {
  return host === undefined
    ? undefined
    : {
        host: host.name,
        ...(bound === undefined ? {} : { bound }),
        ...(copy === undefined ? {} : { copyOfWake: copy.epoch }),
      };
}

export function homeText({ host, bound, copyOfWake }: CopyHome): string {
  if (bound !== undefined) return printable(`Its folder is on ${host}, and no other machine wakes it: ${bound}.`);
  return printable(
    `Its folder is on ${host}${copyOfWake === undefined ? ', and there is no copy of it yet' : `; the newest copy is that of wake ${copyOfWake}`}.`,
  );
}

export function missingText({ agentMissingHere, environmentMissingHere }: MissingHere): readonly string[] {
  const what =
    agentMissingHere === undefined
      ? environmentMissingHere && `environment "${environmentMissingHere}"`
      : `agent "${agentMissingHere}"`;
  if (what === undefined) return [];
  return [
    printable(
      `There is no ${what} in the home of this machine, nor in a config that this command knows: a worker without it leaves the session to those that have it. What is defined in code comes with --config FILE.`,
    ),
  ];
}
