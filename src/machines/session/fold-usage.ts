/** What a session uses up, counted from its log: what a step reserved counts until it is known what it used. */
import type { RunUsage } from '../run/run-output.ts';
import type { Allowance } from './event-parts.ts';
import type { Change } from './fold-status.ts';
import type { SessionEventOf } from './session-event.ts';
import type { SessionState } from './session-state.ts';

export function foldSpanCompleted(state: SessionState, { data, seq }: SessionEventOf<'span.completed'>): Change {
  const { spanId, kind, outcome, modelSteps, usage } = data;
  const isOpen = state.openSpanId === spanId;
  const reserved = isOpen ? state.openSpanReserve : undefined;
  // What a step used that died or was cut short is unknown: as much as it was allowed to.
  const isUntold = usage === undefined && (outcome === 'lost' || outcome === 'aborted');
  const tokens = isUntold ? (reserved?.tokens ?? 0) : (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  const cost = isUntold ? (reserved?.cost ?? 0) : (usage?.cost ?? 0);
  const isAnswer = kind === 'model_step' && outcome === 'completed';
  const { openWake } = state;
  return {
    openSpanId: isOpen ? undefined : state.openSpanId,
    openSpanReserve: isOpen ? undefined : state.openSpanReserve,
    openSpanIntake: isOpen ? undefined : state.openSpanIntake,
    ...(kind === 'model_step' ? outdated(state, spanId) : {}),
    ...(kind === 'compaction' ? { compactionTriedAtSeq: seq } : {}),
    modelSteps: state.modelSteps + modelSteps,
    unansweredResults: isAnswer ? 0 : state.unansweredResults,
    // A step without a directive takes the one before it back: silence means rest. A step that failed is taken again.
    intent: isAnswer && state.intent?.spanId !== spanId ? undefined : state.intent,
    ...use(state, { tokens, cost }),
    ...(openWake === undefined
      ? {}
      : {
          openWake: {
            ...openWake,
            tokens: openWake.tokens + tokens,
            cost: openWake.cost + cost,
            steps: openWake.steps + Number(isAnswer),
          },
        }),
  };
}

/**
 * A step that another backend took, or that came to no end, is one that the backend's own session has not seen, or not
 * as the log has it.
 */
function outdated({ backendSession }: SessionState, spanId: string): Change {
  return backendSession === undefined || backendSession.spanId === spanId
    ? {}
    : { backendSession: { ...backendSession, isCurrent: false } };
}

function use({ used }: SessionState, { tokens = 0, cost = 0 }: Allowance): Change {
  return tokens === 0 && cost === 0 ? {} : { used: { tokens: used.tokens + tokens, cost: used.cost + cost } };
}

/** What a child used up counts for the session, and for the wake in which it did. */
export function useByChild(state: SessionState, { tokens = 0, cost = 0 }: Allowance): Change {
  const { openWake } = state;
  return {
    ...use(state, { tokens, cost }),
    ...(openWake === undefined
      ? {}
      : { openWake: { ...openWake, tokens: openWake.tokens + tokens, cost: openWake.cost + cost } }),
  };
}

/** What was used up beside its steps, such as by a judge. */
export function useBeside(state: SessionState, usage: RunUsage | undefined): Change {
  return usage === undefined
    ? {}
    : useByChild(state, { tokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0), cost: usage.cost });
}
