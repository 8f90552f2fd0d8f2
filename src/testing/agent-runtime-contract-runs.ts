/**
 * How the cases of the contract of backends start runs: each with what it told and what became of it, none of them left
 * when a case ends.
 */
import type {
  AgentRunParams,
  AgentRunResult,
  RunPermissionAnswer,
  RunPermissionRequest,
  RunResumption,
} from '../actors/run/agent-runtime.ts';
import type { AgentRunEvent } from '../machines/run/run-output.ts';
import type { ProviderMessage } from '../machines/turn/provider-message.ts';
import type { AgentRuntimeUnderTest, RunSetting } from './agent-runtime-contract-subject.ts';
import { told } from './expectations.ts';

export interface RunRequest {
  readonly runId?: string | undefined;
  /** Default: one message that asks for something. */
  readonly messages?: readonly ProviderMessage[] | undefined;
  readonly prompt?: string | undefined;
  readonly resume?: RunResumption | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  /** Hears each event, after the case itself has. */
  readonly onEvent?: ((event: AgentRunEvent) => void) | undefined;
  readonly requestPermission?: ((request: RunPermissionRequest) => Promise<RunPermissionAnswer>) | undefined;
}

export interface StartedRun {
  readonly runId: string;
  /** What it has told so far. */
  readonly events: readonly AgentRunEvent[];
  /** Rejects when the run does, or when it never ends. */
  readonly result: Promise<AgentRunResult>;
  /** Resolves when the run has told an event of which this holds; rejects when it has ended without one. */
  until(holds: (event: AgentRunEvent) => boolean, what: string): Promise<void>;
}

export function said(text: string): ProviderMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

const REQUEST: readonly ProviderMessage[] = [said('Please answer.')];

export class RunsOfCase {
  readonly subject: AgentRuntimeUnderTest;
  readonly #started: Pick<StartedRun, 'runId' | 'result'>[] = [];

  constructor(subject: AgentRuntimeUnderTest) {
    this.subject = subject;
  }

  /** Calls `run` at once. */
  start(change: Partial<RunSetting>, request: RunRequest = {}): StartedRun {
    const { runId = `run_${this.#started.length + 1}` } = request;
    const events: AgentRunEvent[] = [];
    const listeners = new Set<() => void>();
    const onEvent = (event: AgentRunEvent): void => {
      events.push(event);
      for (const listener of listeners) listener();
      request.onEvent?.(event);
    };
    const running = this.subject.runtime.run(this.#params(change, { ...request, runId, onEvent }));
    // A case may check something else first; what came is kept for when it checks here.
    running.catch(() => undefined);
    const result = told(running, `the result of ${runId}`);
    result.catch(() => undefined);
    this.#started.push({ runId, result });
    return {
      runId,
      events,
      result,
      until: (holds, what) => told(heard({ events, listeners, running, holds, what }), what),
    };
  }

  /** Stops one by its id. Rejects when the call never returns. */
  stop(runId: string): Promise<void> {
    return told(this.subject.runtime.abort(runId), 'the end of the call that stops a run');
  }

  /** Stops what still runs, and waits for it. */
  async end(): Promise<void> {
    const { runtime } = this.subject;
    await Promise.allSettled(
      this.#started.map(async ({ runId }) => (runtime.isRunActive(runId) ? this.stop(runId) : undefined)),
    );
    await Promise.allSettled(this.#started.map(({ result }) => result));
  }

  #params(
    change: Partial<RunSetting>,
    { runId = '', prompt, messages = REQUEST, resume, abortSignal, onEvent, requestPermission }: RunRequest,
  ): AgentRunParams {
    const base = {
      ...this.subject.setting,
      ...change,
      runId,
      resume: frozenCopy(resume),
      abortSignal,
      onEvent,
      requestPermission,
    };
    // Frozen, so that a backend which changes what it was given fails.
    return prompt === undefined ? { ...base, messages: frozenCopy(messages) } : { ...base, prompt };
  }
}

interface Hearing {
  readonly events: readonly AgentRunEvent[];
  readonly listeners: Set<() => void>;
  readonly running: Promise<AgentRunResult>;
  readonly holds: (event: AgentRunEvent) => boolean;
  readonly what: string;
}

async function heard({ events, listeners, running, holds, what }: Hearing): Promise<void> {
  const hasCome = (): boolean => events.some(holds);
  if (hasCome()) return;
  const arrival = new Promise<void>((resolve) => {
    listeners.add(() => {
      if (hasCome()) resolve();
    });
  });
  const ending = running.then((result) => {
    if (!hasCome()) throw new Error(`${what}: expected it before the run ended, received ${JSON.stringify(result)}`);
  });
  await Promise.race([arrival, ending]);
}

/** Of plain data. What the kit shares with no adapter, no adapter has to load. */
function frozenCopy<Value>(value: Value): Value {
  if (value === undefined) return value;
  return JSON.parse(JSON.stringify(value), (_key, part: unknown) => Object.freeze(part)) as Value;
}
