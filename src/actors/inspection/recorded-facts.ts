/** Small things worth showing and searching about an actor: which session, task or call it is about. */
import type { AnyActorRef } from 'xstate';
import { callSubject, shortLine } from '../../machines/inspection-log/call-label.ts';
import type { InspectedText } from './inspected-text.ts';

/**
 * What the program knows about an actor, such as the label of a task. It must be quick, since it is asked about each
 * one.
 */
export type FactsOf = (actor: AnyActorRef) => Readonly<Record<string, string>> | undefined;

/** Of the label of a call, with what is taken out of its lines. */
const MAX_SUBJECT_CHARACTERS = 320;

/** Of a context, where they are texts. */
const FACTS = ['sessionId', 'wakeId', 'taskId', 'callId', 'runId', 'jobId', 'name', 'label'] as const;
const MAX_FACTS = 16;

export interface Described {
  readonly ref: AnyActorRef;
  readonly context: unknown;
}

/**
 * What it says of itself and what the program knows of it. The id of a task is not among them: that is the id of the
 * actor, which readers get as a fact as well.
 */
export function recordedFacts(
  { ref, context }: Described,
  text: InspectedText,
  factsOf: FactsOf | undefined,
): Readonly<Record<string, string>> | undefined {
  const known = factsOf?.(ref);
  if (known === undefined && (typeof context !== 'object' || context === null)) return undefined;
  const facts: Record<string, string> = {};
  if (typeof context === 'object' && context !== null) {
    for (const name of FACTS) {
      const value: unknown = Object.getOwnPropertyDescriptor(context, name)?.value;
      if (typeof value === 'string') facts[name] = text.name(value);
    }
    const { callId, name, label } = facts;
    if (callId !== undefined && name !== undefined)
      facts['label'] =
        label ??
        shortLine(
          text.cut(callSubject(name, Object.getOwnPropertyDescriptor(context, 'input')?.value), MAX_SUBJECT_CHARACTERS),
        );
  }
  // One place is left for the id of a task.
  for (const [name, value] of Object.entries(known ?? {}).slice(0, MAX_FACTS - 1 - Object.keys(facts).length)) {
    if (typeof value === 'string' && name !== '__proto__') facts[text.name(name)] = text.name(value);
  }
  return Object.keys(facts).length === 0 ? undefined : facts;
}

/**
 * A task is the one thing whose actor is all there is of its lifecycle: its id is the id of the task. Said by the
 * reader, since there are so many.
 */
export function factsOfKind(
  kind: string | undefined,
  id: string,
  facts: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  return kind === 'task' ? { taskId: id, ...facts } : facts;
}
