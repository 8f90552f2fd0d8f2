/** What a session can tell of itself: what its context is spent on, and what it is. */
import { contextOutlook } from '../../machines/turn/context-outlook.ts';
import { contextPressure } from '../../machines/turn/context-pressure.ts';
import { describeContext } from '../../machines/turn/context-report.ts';
import type {
  SessionContextOutput,
  SessionDescribeOutput,
} from '../../machines/session-tools/session-tool-definitions.ts';
import { MAX_SNAPSHOT_ITEMS } from '../../machines/session-tools/session-tool-limits.ts';
import { definedOnly, snapshotOf } from '../../machines/session-tools/snapshot.ts';
import type { ToolContext } from '../turn/tool.ts';
import { loadTranscript } from '../wake/session-transcript.ts';
import { maxContextTokens } from '../wake/wake-context.ts';
import type { EventStore } from './event-store.ts';
import { agentsToAsk } from './session-tools-delegate.ts';
import type { SessionReading } from './session-tools-reading.ts';

/**
 * Where no step of the wake is known nothing is known of the context; what its conversation holds is told all the same.
 */
export async function describeOwnContext(
  { session, wake }: ToolContext,
  { store, sessions }: SessionReading,
): Promise<SessionContextOutput> {
  const state = wake?.state() ?? (await sessions.get(session.sessionId));
  const definition = wake?.agent.definition;
  const transcript = await loadTranscript(
    store,
    state,
    definition === undefined ? {} : { maxTokens: maxContextTokens(definition) },
  );
  const outlook = contextOutlook(transcript.messages(), definition?.context.whenFull);
  const report = wake?.context;
  return {
    isKnown: report !== undefined,
    ...(report === undefined
      ? {}
      : {
          report: Object.fromEntries(
            Object.entries(report).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
          ),
          words: describeContext(report),
          pressure: contextPressure(report),
        }),
    next: [...outlook.next],
    protected: outlook.protected,
  };
}

export async function describeSession(
  { session, wake }: ToolContext,
  { sessions }: { readonly store: EventStore } & SessionReading,
): Promise<SessionDescribeOutput> {
  const state = wake?.state() ?? (await sessions.get(session.sessionId));
  const parent = state.parent?.sessionId;
  const siblings =
    parent === undefined
      ? []
      : (await sessions.list({ agentId: state.agentId })).filter(
          (other) => other.parent?.sessionId === parent && other.sessionId !== state.sessionId,
        );
  return {
    session: snapshotOf(state),
    ...definedOnly({ agent: agentOf(wake) }),
    siblings: siblings.slice(-MAX_SNAPSHOT_ITEMS).map(({ sessionId }) => sessionId),
  };
}

function agentOf(wake: ToolContext['wake']): SessionDescribeOutput['agent'] {
  if (wake === undefined) return undefined;
  const { agentId, name, provider, model } = wake.agent.definition;
  return {
    agentId,
    name,
    provider,
    model,
    tools: [...wake.agent.tools.keys()],
    agents: agentsToAsk(wake.agent).map((each) => each.agentId),
  };
}
