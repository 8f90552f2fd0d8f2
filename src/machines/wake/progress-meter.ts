/**
 * Tells whether a wake gets on, from its tool calls and what came of them: a model that asks for the same thing again
 * and again, or goes round in circles, is stopped before it has used up everything else.
 */
import { canonicalJson } from '../canonical-json.ts';
import type { SessionEvent } from '../session/session-event.ts';

/** Numbers that tell texts apart are kept in place of the texts. */
type Digest = number;

export class ProgressMeter {
  /** What each call came to last. */
  readonly #results = new Map<Digest, Digest>();
  /** Calls without a result, by call id. */
  readonly #open = new Map<string, Digest>();
  #last: Digest | undefined;
  #identicalCalls = 0;
  #stepsWithoutProgress = 0;
  #calls = 0;
  #newThings = 0;

  /** Calls in a row that were the same and came to the same. 0 when the last one was not like the one before. */
  get identicalCalls(): number {
    return this.#identicalCalls;
  }

  /** Steps in a row with calls of which none was new or came to something new. */
  get stepsWithoutProgress(): number {
    // The last step has ended when its calls have, which nothing says.
    if (this.#calls === 0) return this.#stepsWithoutProgress;
    return this.#newThings > 0 ? 0 : this.#stepsWithoutProgress + 1;
  }

  /** Takes the next event of the wake's log. */
  ingest({ type, data }: SessionEvent): void {
    if (type === 'span.started') this.#endStep();
    else if (type === 'agent.tool_use')
      this.#open.set(data.callId, digestOf(`${data.name} ${canonicalJson(data.input)}`));
    else if (type === 'agent.tool_result')
      this.#end(data.callId, digestOf(`${data.outcome} ${canonicalJson(data.output)}`));
    // A new message is a new reason to try.
    else if (type === 'message.consumed') this.#startAnew();
  }

  #end(callId: string, result: Digest): void {
    const call = this.#open.get(callId);
    if (call === undefined) return;
    this.#open.delete(callId);
    this.#calls += 1;
    const isNew = this.#results.get(call) !== result;
    this.#results.set(call, result);
    if (isNew) this.#newThings += 1;
    this.#identicalCalls = !isNew && (this.#last === call || this.#last === undefined) ? this.#identicalCalls + 1 : 0;
    this.#last = call;
  }

  #endStep(): void {
    this.#stepsWithoutProgress = this.stepsWithoutProgress;
    this.#calls = 0;
    this.#newThings = 0;
  }

  #startAnew(): void {
    this.#identicalCalls = 0;
    this.#stepsWithoutProgress = 0;
    this.#last = undefined;
  }
}

/**
 * 53 bits of the text, by two multiplicative hashes. There is nothing to gain from two texts that collide: a wake would
 * only stop early.
 */
function digestOf(text: string): Digest {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x5bd1e995);
    low ^= low >>> 15;
  }
  return (high & 0x1fffff) * 0x100000000 + (low >>> 0);
}
