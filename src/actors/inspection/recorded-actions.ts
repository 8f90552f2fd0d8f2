/**
 * Actions that ran. Those of XState's own become what they do: an event told to listeners, a timer that is set or
 * cleared.
 */
import type { Clock } from '../clock/clock.ts';
import type { InspectedActor } from './recorded-actors.ts';
import type { InspectedText } from './inspected-text.ts';
import type { RecordWriter } from './record-writer.ts';

export interface InspectedAction {
  readonly type: string;
  readonly params: unknown;
}

interface ActionParts {
  readonly clock: Clock;
  readonly text: InspectedText;
  readonly write: RecordWriter;
}

/** What XState gives its own actions. */
interface OwnParams {
  readonly event?: { readonly type: string };
  readonly id?: unknown;
  readonly delay?: unknown;
  readonly sendId?: unknown;
}

export function recordAction(
  actor: InspectedActor,
  { type, params }: InspectedAction,
  { clock, text, write }: ActionParts,
): void {
  switch (type) {
    case 'xstate.emit': {
      const { event } = params as OwnParams;
      if (event !== undefined) write.emit(actor.owner, event);
      return;
    }
    case 'xstate.raise':
    case 'xstate.sendTo': {
      const { event, id, delay } = params as OwnParams;
      // What is sent at once is told as an event, and what is raised as a step.
      if (event === undefined || typeof delay !== 'number') return;
      const sends = text.name(event.type);
      const name = typeof id === 'string' ? text.name(id) : sends;
      const delayMs = Number.isFinite(delay) ? Math.max(0, delay) : 0;
      (actor.timers ??= new Map<string, string>()).set(name, sends);
      write.timer(actor.owner, { id: name, delayMs, dueAt: Math.min(8.64e15, Math.max(0, clock.now() + delayMs)) });
      return;
    }
    case 'xstate.cancel': {
      const name = text.name((params as OwnParams).sendId);
      // XState clears timers that are over too.
      if (actor.timers?.delete(name) === true) write.cancel(actor.owner, name);
      return;
    }
    case 'xstate.spawnChild':
    case 'xstate.stopChild':
      // The child tells of itself.
      return;
    default:
      write.action(actor.owner, text.name(type), params);
  }
}
