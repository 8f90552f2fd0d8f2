/** Finds sessions with something to do whose agent is not there: every worker leaves them to others. */
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { EventStore } from '../../actors/session/event-store.ts';
import { agentMissingHere } from '../session/workspace-copies.ts';
import { counted } from '../terminal/text.ts';
import { problem } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface MissingAgentsCheck {
  readonly agents: Pick<AgentCatalog, 'get'>;
  readonly store: Pick<EventStore, 'activations'>;
  /** What has been due for longer, in milliseconds since the epoch: other machines may be about to take the rest. */
  readonly dueBeforeMs: number;
}

/** More ids than these do not help. */
const MAX_SESSIONS = 10;

export async function checkMissingAgents({
  agents,
  store,
  dueBeforeMs,
}: MissingAgentsCheck): Promise<RepairableFinding[]> {
  const { due } = await store.activations.due({ nowMs: dueBeforeMs, limit: Number.MAX_SAFE_INTEGER });
  const byAgent = new Map<string, string[]>();
  for (const { agentId, sessionId } of due) {
    const known = byAgent.get(agentId);
    if (known === undefined) byAgent.set(agentId, [sessionId]);
    else known.push(sessionId);
  }
  const findings: RepairableFinding[] = [];
  for (const [agentId, sessions] of byAgent) {
    if ((await agentMissingHere({ agentId, status: 'idle' }, { agents })) === undefined) continue;
    const ids = sessions.slice(0, MAX_SESSIONS);
    const more = sessions.length > ids.length ? ` and ${sessions.length - ids.length} more` : '';
    findings.push(
      problem({
        area: 'sessions',
        where: agentId,
        what: `${counted(sessions.length, 'session')} with something to do, and no such agent in the home or in a config that this command knows: ${ids.join(', ')}${more}`,
        remedy: `Workers without it leave them alone: give the agent back (agents/${agentId} of the home), or start a worker, and this command, with --config FILE.`,
      }),
    );
  }
  return findings;
}
