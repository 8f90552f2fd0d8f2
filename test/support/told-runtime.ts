/** A backend that does what a test says, attempt by attempt, and remembers what it was given. */
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../src/actors/run/agent-runtime.ts';
import type { AgentRunEventBody } from '../../src/machines/run/run-output.ts';
import type { RunFailure, RunFailureKind } from '../../src/machines/run/run-failure.ts';

export type Act = (
  params: AgentRunParams,
  tell: (event: AgentRunEventBody) => void,
) => AgentRunResult | Promise<AgentRunResult>;

export interface ToldRuntime extends AgentRuntime {
  /** What each attempt was given. */
  readonly asked: AgentRunParams[];
}

/** The acts in order; the last one goes on for ever. */
export function toldRuntime(id: string, acts: readonly Act[], more: Partial<AgentRuntime> = {}): ToldRuntime {
  const asked: AgentRunParams[] = [];
  return {
    id,
    asked,
    ...more,
    async run(params) {
      asked.push(params);
      const act = acts[Math.min(asked.length, acts.length) - 1];
      let seq = 0;
      return (
        (await act?.(params, (body) =>
          params.onEvent?.({ ...body, runId: params.runId, seq: (seq += 1), ts: '2026-01-01T00:00:00.000Z' }),
        )) ?? { payloads: [] }
      );
    },
    abort: async () => undefined,
    isRunActive: () => false,
  };
}

export const says =
  (text: string, usage = { inputTokens: 10, outputTokens: 1 }): Act =>
  (_params, tell) => {
    tell({ stream: 'assistant', data: { kind: 'text', text } });
    return { payloads: [{ type: 'text', text }], usage, meta: { modelSteps: 1 } };
  };

export const fails =
  (kind: RunFailureKind, more: Partial<RunFailure> = {}): Act =>
  () => ({ payloads: [], meta: { error: { kind, message: `it has ${kind}`, ...more } } });

/** Until it is aborted. */
export const hangs: Act = ({ abortSignal }) =>
  new Promise((resolve) => {
    const stop = (): void =>
      resolve({
        payloads: [{ type: 'text', text: 'So far' }],
        meta: { error: { kind: 'aborted', message: 'stopped' } },
      });
    abortSignal?.addEventListener('abort', stop, { once: true });
    if (abortSignal?.aborted === true) stop();
  });
