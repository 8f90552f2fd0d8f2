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
  /** Messages of people, by the ids of their events, that are not read yet. */
  readonly #unread: Set<string>;

  constructor(unread: readonly string[] = []) {
    this.#unread = new Set(unread);
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
    switch (event.type) {
      case 'span.started':
        if (event.data.kind !== 'model_step') return [];
        return this.#begin(event.data.spanId, event.seq);
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
        this.#unread.add(event.id);
        return [];
      case 'message.consumed': {
        // What is read besides are answers, and what became of other sessions.
        const eventIds = event.data.eventIds.filter((id) => this.#unread.delete(id));
        return eventIds.length === 0 ? [] : [{ type: 'read', eventIds }];
      }
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

  #begin(id: string, seq: number): readonly TurnPart[] {
    const { step, parts } = this.#step.next({ id, seq });
    this.#step = step;
    return parts;
  }
}

function ofCall(event: SessionEvent): readonly TurnPart[] {
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
