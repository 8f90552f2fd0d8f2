/** Small things worth showing and searching about an actor: which session, task or call it is about. */
import type { AnyActorRef } from 'xstate';
import type { InspectedText } from './inspected-text.ts';

/** What the program knows about an actor, such as the label of a task. It must be quick, since it is asked about each one. */
export type FactsOf = (actor: AnyActorRef) => Readonly<Record<string, string>> | undefined;

/** Of a context, where they are texts. */
const FACTS = ['sessionId', 'wakeId', 'taskId', 'callId', 'runId', 'jobId', 'name', 'label'] as const;
const MAX_FACTS = 16;

export interface Described {
  readonly ref: AnyActorRef;
  /** The id of its chart. */
  readonly kind: string | undefined;
  readonly context: unknown;
}

export function recordedFacts({ ref, kind, context }: Described, text: InspectedText, factsOf: FactsOf | undefined): Readonly<Record<string, string>> | undefined {
  const facts: Record<string, string> = {};
  // A task is the one thing whose actor is all there is of its lifecycle: its id is the id of the task.
  if (kind === 'task') facts['taskId'] = text.name(ref.id);
  if (typeof context === 'object' && context !== null) {
    for (const name of FACTS) {
      const value: unknown = Object.getOwnPropertyDescriptor(context, name)?.value;
      if (typeof value === 'string') facts[name] = text.name(value);
    }
  }
  for (const [name, value] of Object.entries(factsOf?.(ref) ?? {}).slice(0, MAX_FACTS - Object.keys(facts).length)) {
    if (typeof value === 'string' && name !== '__proto__') facts[text.name(name)] = text.name(value);
  }
  return Object.keys(facts).length === 0 ? undefined : facts;
}
