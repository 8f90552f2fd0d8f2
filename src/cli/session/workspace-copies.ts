/** Where the folder of a session is at home, as commands say it. */
import type { WorkspaceCopyStates } from '../../actors/workspace-copy/copy-store.ts';
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { WorkspaceCopyState } from '../../machines/workspace-copy/copy-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { hostIdOf } from '../../adapters/workspace-copy-files/host-id.ts';
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

/** The agent that a session needs and this process has not got, so that a worker like it leaves the session to others. */
export async function agentMissingHere(
  { agentId, status }: Pick<SessionState, 'agentId' | 'status'>,
  { agents }: { readonly agents: Pick<AgentCatalog, 'get'> },
): Promise<string | undefined> {
  if (status === 'terminated') return undefined;
  return agents.get(agentId).then(
    () => undefined,
    (error: unknown) => (RuntimeError.is(error) && error.code === 'AGENT_NOT_FOUND' ? agentId : undefined),
  );
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

export function missingAgentText(agentId: string): string {
  return printable(
    `There is no agent "${agentId}" in the home of this machine, nor in a config that this command knows: a worker without it leaves the session to those that have it. What is defined in code comes with --config FILE.`,
  );
}
