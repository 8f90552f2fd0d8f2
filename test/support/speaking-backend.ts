/** A backend that says what a test says, when the test says it. */
import { createAgentRuntime } from '../../src/actors/run/create-agent-runtime.ts';
import type { RunVoice } from '../../src/actors/run/create-agent-runtime.ts';
import type { AgentRuntime } from '../../src/actors/run/agent-runtime.ts';

export interface SpeakingBackend {
  readonly runtime: AgentRuntime;
  /** Of the step that runs, or of the next. */
  voice(): Promise<RunVoice>;
  /** The step ends. */
  end(): void;
}

/** The agent file that chooses it. */
export const SPEAKER = { provider: 'speaker', model: 'm' } as const;

export function speakingBackend(): SpeakingBackend {
  let begun = deferred<RunVoice>();
  let over = deferred<void>();
  return {
    runtime: createAgentRuntime({
      id: 'speaker',
      answer: async (_params, voice) => {
        begun.resolve(voice);
        await over.promise;
      },
    }),
    voice: () => begun.promise,
    end() {
      over.resolve();
      [begun, over] = [deferred(), deferred()];
    },
  };
}

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
}

function deferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => (resolve = settle));
  return { promise, resolve };
}
