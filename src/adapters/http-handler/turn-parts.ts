/**
 * A session's log, and what is said meanwhile, as the parts of a conversation: what the views for chat clients are made
 * of. Pure: what comes goes in, parts come out.
 */
import { askHumanDefinition } from '../../machines/turn/ask-human.ts';
import type { SessionEvent, SessionEventOf } from '../../machines/session/session-event.ts';
import type { Told } from './merged.ts';
import { SpokenStep } from './spoken-step.ts';
import type { TurnPart } from './turn-part.ts';

export class TurnParts {
  #step = new SpokenStep();
  /** Requests to clients that are no calls: their results are told under their own ids. */
  readonly #requests = new Set<string>();
  /** Messages of people that are not read yet, by the ids of their events, with whether they steer. */
  readonly #unread: Map<string, boolean>;
  /** Those of them that a step has begun to read: it may fail, and be made again. */
  readonly #reading = new Set<string>();
  #isFirstStep: boolean;

  /** @param unread messages that the first step reads, if it comes first */
  constructor(unread: readonly string[] = []) {
    this.#unread = new Map(unread.map((id) => [id, false]));
    this.#isFirstStep = unread.length > 0;
  }

  of(told: Told): readonly TurnPart[] {
    if (told.kind === 'event') return this.#ofEvent(told.value);
    const word = told.value;
    if (word.type !== 'progress') return this.#step.hear(word);
    const { message, done, total } = word.progress;
    const share = done === undefined ? '' : total === undefined ? String(done) : `${done} of ${total}`;
    return [{ type: 'progress', callId: word.callId, message: [share, message ?? ''].filter(Boolean).join(' · ') }];
  }

  #ofEvent(event: SessionEvent): readonly TurnPart[] {
    // Whatever else there is says nothing here.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case 'wake.started':
        this.#isFirstStep = true;
        return [];
      case 'wake.ended':
        return ofEnding(event);
      case 'span.started':
        if (event.data.kind !== 'model_step') return [];
        return [...this.#read(), ...this.#begin(event.data.spanId, event.seq)];
      case 'run.attempt_failed':
        return this.#step.takeBack();
      case 'agent.message':
        return this.#step.store('text', event.data.text, event.seq);
      case 'agent.thinking':
        return this.#step.store('reasoning', event.data.text, event.seq);
      case 'span.completed':
        if (event.data.kind !== 'model_step') return [];
        return [...this.#step.end(event.seq), { type: 'step-ended' }];
      case 'user.message':
        this.#unread.set(event.id, event.data.delivery === 'steer');
        return [];
      case 'message.consumed':
        return this.#consumed(event.data.eventIds);
      default:
        return this.#step.keep(this.#ofRequest(event) ?? ofCall(event), event.seq);
    }
  }

  #ofRequest(event: SessionEvent): readonly TurnPart[] | undefined {
    if (event.type === 'user.custom_tool_result') {
      const { requestId, output } = event.data;
      return this.#requests.has(requestId) ? [{ type: 'result', callId: requestId, outcome: 'completed', output }] : [];
    }
    if (event.type === 'agent.custom_tool_use' && event.data.callId === undefined)
      this.#requests.add(event.data.requestId);
    return undefined;
  }

  /**
   * What a step reads is stored with its end, and people want to see it before. So the first step of a wake is taken
   * for the one that reads all that is unread, and each later one for what steers.
   */
  #read(): readonly TurnPart[] {
    const isFirst = this.#isFirstStep;
    this.#isFirstStep = false;
    const begun = [...this.#unread].filter(([id, steers]) => (isFirst || steers) && !this.#reading.has(id));
    return this.#readOf(begun.map(([id]) => id));
  }

  /** What is read besides messages are answers, and what became of other sessions. */
  #consumed(eventIds: readonly string[]): readonly TurnPart[] {
    const read = eventIds.filter((id) => this.#unread.delete(id));
    return this.#readOf(read.filter((id) => !this.#reading.delete(id)));
  }

  #readOf(eventIds: readonly string[]): readonly TurnPart[] {
    for (const id of eventIds) if (this.#unread.has(id)) this.#reading.add(id);
    return eventIds.length === 0 ? [] : [{ type: 'read', eventIds }];
  }

  #begin(id: string, seq: number): readonly TurnPart[] {
    const { step, parts } = this.#step.next({ id, seq });
    this.#step = step;
    return parts;
  }
}

function ofCall(event: SessionEvent): readonly TurnPart[] {
  // Whatever else there is says nothing here.
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check
  switch (event.type) {
    case 'agent.tool_use': {
      const { callId, name, input } = event.data;
      return [{ type: 'call', callId, name, input, runs: 'agent' }];
    }
    case 'agent.question_asked': {
      const { callId, question, choices } = event.data;
      const input = { question, ...(choices === undefined ? {} : { choices }) };
      return [{ type: 'call', callId, name: askHumanDefinition.name, input, runs: 'client' }];
    }
    case 'agent.custom_tool_use': {
      const { callId, requestId, name, input } = event.data;
      return [{ type: 'call', callId: callId ?? requestId, name, input, runs: 'client' }];
    }
    case 'agent.tool_result': {
      const { callId, outcome, output } = event.data;
      return [{ type: 'result', callId, outcome, output }];
    }
    case 'permission.requested': {
      const { requestId, callId, toolName, because } = event.data;
      return [{ type: 'permission-asked', requestId, callId, toolName, because }];
    }
    case 'permission.resolved':
      return [permissionGiven(event)];
    default:
      return [];
  }
}

function ofEnding({ data: { retryAt, summary } }: SessionEventOf<'wake.ended'>): readonly TurnPart[] {
  return retryAt === undefined ? [] : [{ type: 'retrying', because: summary, retryAt }];
}

function permissionGiven({ data }: SessionEventOf<'permission.resolved'>): TurnPart {
  const { requestId, callId, decision, note } = data;
  return {
    type: 'permission-given',
    requestId,
    callId,
    allowed: decision === 'allowed',
    note: decision === 'expired' ? 'the request has expired' : note,
  };
}
