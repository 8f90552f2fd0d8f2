/**
 * The session that does the work of a job: made once, whichever process dies in between, in the folder and within the
 * bounds that the job was given.
 */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { Narrowing } from '../../machines/session/event-parts.ts';
import { isUuidV7 } from '../../machines/ids.ts';
import { OWN_KEYS } from '../../machines/session/session-requests.ts';
import { refusalError, terminated } from '../../machines/session/session-rules.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { continuesSession } from '../../machines/subagent/subagent-request.ts';
import { providerOf } from '../../machines/subagent/worker-provider.ts';
import type { AgentTaskRequest } from '../../machines/task/task-request.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import { keepView } from '../session/event-store.ts';
import { accept, appendAtHead } from '../session/ingress.ts';
import { announceChild } from '../session/lineage.ts';
import type { LineagePorts } from '../session/lineage.ts';
import { beginSession } from '../session/new-session.ts';
import type { Origin } from '../session/new-session.ts';
import { promisedBounds } from '../session/parent-bounds.ts';
import type { BoundsPorts } from '../session/parent-bounds.ts';
import type { SessionJournal } from '../session/session-journal.ts';
import type { SessionDirectories } from '../session/session-directories.ts';
import { requireSameAgent, requireSameBounds } from './continued-session.ts';

export interface JobSessionPorts extends LineagePorts, BoundsPorts {
  readonly agents: AgentCatalog;
  /** Where sessions work that were given no folder. */
  readonly directories?: Pick<SessionDirectories, 'workspaceDirectory'> | undefined;
}

export interface JobSession {
  readonly jobId: string;
  readonly sessionId: string;
  readonly request: AgentTaskRequest;
}

/**
 * Makes the session and sends it the prompt, unless that has been done. One that was there before the job only gets the
 * prompt.
 * @throws RuntimeError SESSION_NOT_FOUND for a job whose parent is gone; AGENT_NOT_FOUND, AGENT_INVALID,
 * SESSION_TOO_DEEP, SESSION_TERMINATED, CHILD_LIMIT; nothing is made then. SESSION_NOT_FOUND, SUBAGENT_SESSION_OTHER
 * for one that the job cannot go on with
 */
export async function ensureJobSession(
  { jobId, sessionId, request }: JobSession,
  ports: JobSessionPorts,
): Promise<SessionState> {
  const journal = continuesSession(request)
    ? await continued({ jobId, sessionId, request }, ports)
    : ((await openIfThere(sessionId, ports)) ?? (await create({ jobId, sessionId, request }, ports)));
  if (request.prompt !== '' && journal.state.status !== 'terminated') {
    await accept(
      journal,
      { type: 'user.message', text: request.prompt },
      { idempotencyKey: `${OWN_KEYS}job:${jobId}` },
    );
    await keepView(ports.store, journal.state);
  }
  return journal.state;
}

async function continued({ jobId, sessionId, request }: JobSession, ports: JobSessionPorts): Promise<SessionJournal> {
  const journal = await ports.journals.open(sessionId);
  requireSameAgent(journal.state, request);
  const parent = await parentOf(request, ports);
  const bounds =
    parent === undefined
      ? undefined
      : await promisedBounds(
          parent.state,
          parent.state.jobs.find((job) => job.jobId === jobId),
          ports,
        );
  const wanted = await narrowingOf(request, {
    definition: await ports.agents.get(request.agentType),
    parent: parent?.state,
    agents: ports.agents,
  });
  await requireSameBounds(journal.state, { request, wanted, bounds, directories: ports.directories });
  return journal;
}

/**
 * A job for a session that is gone is not made, since it is unknown what binds it. @throws RuntimeError
 * SESSION_NOT_FOUND
 */
async function parentOf(
  { parentSessionId }: Pick<AgentTaskRequest, 'parentSessionId'>,
  ports: JobSessionPorts,
): Promise<SessionJournal | undefined> {
  return isUuidV7(parentSessionId) ? ports.journals.open(parentSessionId) : undefined;
}

async function create({ jobId, sessionId, request }: JobSession, ports: JobSessionPorts): Promise<SessionJournal> {
  const { agentType: agentId, label, cwd } = request;
  const definition = await ports.agents.get(agentId);
  const parent = await parentOf(request, ports);
  if (parent?.state.status === 'terminated')
    throw refusalError(parent.state.sessionId, 'session.child_created', terminated(parent.state));
  const origin = parent === undefined ? OF_ITS_OWN : await childOf(parent.state, jobId, ports);
  const title = label === agentId ? undefined : beginningOf(label, MAX_TITLE_CHARACTERS);
  const narrowing = await narrowingOf(request, { definition, parent: parent?.state, agents: ports.agents });
  const journal = await beginSession({ sessionId, agentId, title, jobId, workspace: cwd, narrowing }, origin, ports);
  await keepView(ports.store, journal.state);
  await announceChild(journal.state, ports).catch(async (error: unknown) => {
    // Its parent refuses it after all: no process will ever wake it.
    await appendAtHead(
      journal,
      ({ status }) =>
        status === 'terminated'
          ? []
          : [
              {
                type: 'session.status_changed',
                data: {
                  to: 'terminated',
                  stopReason: 'terminated',
                  reason: beginningOf(messageOf(error), MAX_TITLE_CHARACTERS),
                },
              },
            ],
      {},
    );
    throw error;
  });
  return ports.journals.open(sessionId);
}

const MAX_TITLE_CHARACTERS = 200;

const OF_ITS_OWN: Origin = { kind: 'own' };

/** Within what its parent has set aside for it. @throws RuntimeError SESSION_TOO_DEEP */
async function childOf(parent: SessionState, jobId: string, ports: BoundsPorts): Promise<Origin> {
  return {
    kind: 'child',
    bounds: await promisedBounds(
      parent,
      parent.jobs.find((job) => job.jobId === jobId),
      ports,
    ),
  };
}

/** What the request changes in the agent. A request without an answerer is denied. */
async function narrowingOf(
  request: AgentTaskRequest,
  {
    definition,
    parent,
    agents,
  }: { readonly definition: AgentDefinition; readonly parent: SessionState | undefined; readonly agents: AgentCatalog },
): Promise<Narrowing> {
  const { allowedTools, disallowedTools, permissionPolicy } = request;
  const model = modelFor(request, definition);
  const allow =
    permissionPolicy === 'inherit-allowlist' && parent !== undefined ? await allowedFor(parent, agents) : [];
  return {
    ...(model === undefined ? {} : { model }),
    ...(allowedTools === undefined ? {} : { tools: [...allowedTools] }),
    ...(disallowedTools === undefined ? {} : { withoutTools: [...disallowedTools] }),
    ...(permissionPolicy === 'preapproved' || permissionPolicy === 'deny' ? { mode: permissionPolicy } : {}),
    ...(permissionPolicy === 'prompt' ? {} : { humans: 'none' as const }),
    ...(allow.length === 0 ? {} : { allow }),
  };
}

/** `provider/model`, where the request says anything of either. */
function modelFor({ model, providerProfile }: AgentTaskRequest, definition: AgentDefinition): string | undefined {
  if (providerProfile === undefined || model?.includes('/') === true) return model;
  const { name, model: usual } = providerOf(providerProfile);
  return `${name}/${model ?? usual ?? definition.model}`;
}

/** What the parent may do without asking. */
async function allowedFor({ agentId, sessionRules, narrowing }: SessionState, agents: AgentCatalog): Promise<string[]> {
  const definition: Pick<AgentDefinition, 'permission'> | undefined = await agents.get(agentId).catch(() => undefined);
  return [...new Set([...(definition?.permission.allow ?? []), ...(narrowing?.allow ?? []), ...sessionRules])];
}

async function openIfThere(sessionId: string, { journals }: JobSessionPorts): Promise<SessionJournal | undefined> {
  try {
    return await journals.open(sessionId);
  } catch (error) {
    if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return undefined;
    throw error;
  }
}
