/** What a worker tells, as facts for programs that gather logs: names, numbers and codes, and a sentence for each. */
import type { SessionWorkerEvent, SessionWorkerSummary } from '../../actors/session/session-worker-types.ts';
import type { Fact } from '../terminal/fact-log.ts';

type PlainFact = Omit<Fact, 'line'>;

export function factOf(event: SessionWorkerEvent): PlainFact {
  const { at } = event;
  if (event.type === 'idle')
    return {
      ...{ level: 'debug', event: 'worker.idle', at, message: 'nothing is due' },
      fields: { next_due_at: event.nextDueAt },
    };
  if (event.type === 'troubled')
    return {
      ...{ level: 'warn', event: 'worker.troubled', at, message: event.reason.message },
      fields: { code: event.reason.code, hint: event.reason.hint, again_at: event.againAt },
    };
  const of = { session: event.sessionId, agent: event.agentId };
  switch (event.type) {
    case 'woke':
      return {
        ...{ level: 'info', event: 'wake.started', at, message: 'the session is woken' },
        fields: { ...of, cause: event.activation.kind, lateness_ms: Math.round(event.latenessMs) },
      };
    case 'slept': {
      const { outcome, summary, wakeId, modelSteps, status } = event.outcome;
      return {
        ...{ level: 'info', event: 'wake.ended', at, message: summary },
        fields: {
          ...of,
          wake: wakeId,
          outcome,
          status,
          model_steps: modelSteps,
          duration_ms: Math.round(event.tookMs),
        },
      };
    }
    case 'passed':
      return { level: 'info', event: 'wake.passed', at, message: 'nothing to do', fields: of };
    case 'contended':
      return {
        ...{ level: 'info', event: 'wake.contended', at },
        message: event.reason?.message ?? 'another process is at it',
        fields: { ...of, code: event.reason?.code, hint: event.reason?.hint },
      };
    case 'failed':
    case 'parked': {
      const { code, message, hint } = event.reason;
      const outcome = event.type === 'failed' ? event.outcome : undefined;
      return {
        ...{ level: 'error', event: event.type === 'failed' ? 'wake.failed' : 'wake.parked', at, message },
        fields: { ...of, wake: outcome?.wakeId, outcome: outcome?.outcome, code, hint, again_at: event.againAt },
      };
    }
  }
}

export function summaryFact({ counts, endedBecause, setAside, lateness }: SessionWorkerSummary): PlainFact['fields'] {
  return {
    because: endedBecause,
    succeeded: counts.succeeded,
    failed: counts.failed,
    aborted: counts.aborted,
    set_aside: setAside.length,
    left_to_others: setAside.filter(({ phase }) => phase === 'elsewhere').length,
    lateness_max_ms: lateness.maxMs,
  };
}
