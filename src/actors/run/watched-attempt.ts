/**
 * What a backend tells and asks while one attempt lasts. What comes later belongs to no attempt any more: it is
 * dropped, or denied.
 */
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import type { AgentRunParams, RunPermissionAnswer, RunPermissionRequest } from './agent-runtime.ts';
import type { RunRequest } from './run-options.ts';

export interface WatchedAttemptOptions {
  /** The backend runs tools of its own. */
  readonly runsTools: boolean;
  /** Hears what is said and done. */
  readonly emit: (event: AgentRunEvent) => void;
}

const OVER: RunPermissionAnswer = { decision: 'deny', message: 'The turn is over.' };

export class WatchedAttempt {
  readonly params: Pick<AgentRunParams, 'onEvent' | 'requestPermission'>;
  #isOver = false;
  #hadEffects = false;
  #said = '';

  constructor({ requestPermission }: RunRequest, { runsTools, emit }: WatchedAttemptOptions) {
    const onEvent = (event: AgentRunEvent): void => {
      if (this.#isOver || (event.stream !== 'assistant' && event.stream !== 'tool')) return;
      if (event.stream === 'tool' && runsTools) this.#hadEffects = true;
      if (event.stream === 'assistant') this.#said += event.data.text;
      emit(event);
    };
    const ask = async (request: RunPermissionRequest): Promise<RunPermissionAnswer> => {
      if (this.#isOver) return OVER;
      const answer = await requestPermission?.(request);
      if (this.#isOver || answer === undefined) return OVER;
      // A program that is allowed to may have done it before it says so.
      if (answer.decision === 'allow') this.#hadEffects = true;
      return answer;
    };
    this.params = { onEvent, ...(requestPermission === undefined ? {} : { requestPermission: ask }) };
  }

  end(): { readonly hadEffects: boolean; readonly said: string } {
    this.#isOver = true;
    return { hadEffects: this.#hadEffects, said: this.#said };
  }
}
