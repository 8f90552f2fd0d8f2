/**
 * A chart as plain JSON, made from the compiled definition of a machine. Diagram, audit, diff, coverage and inspector
 * all read this, and nothing of XState.
 *
 * Ids are stable: a state is its path (`running.active`; the root is the empty string), a transition is
 * `state|event|index`, where the event of what the machine itself raises is written as people say it: `done(fetch)`,
 * `error(fetch)`, `after(soon)`, `always`, `done`.
 */
import * as z from 'zod';

/** Something named in a machine: an action, a guard, an invoked actor. One without a name of its own is inline. */
const operation = z.strictObject({ name: z.string(), isInline: z.boolean() });

const invocation = z.strictObject({
  /** Unique in its state: the id that was given, else the name of the source. */
  id: z.string(),
  source: operation,
  handlesDone: z.boolean(),
  handlesError: z.boolean(),
});

/** What a developer decided to let stand, and why. `*` as the event: whatever the finding is about. */
const waiver = z.strictObject({ state: z.string(), rule: z.string(), event: z.string(), because: z.string() });

const state = z.strictObject({
  id: z.string(),
  key: z.string(),
  /** Absent for the root. */
  parent: z.string().optional(),
  kind: z.enum(['atomic', 'compound', 'parallel', 'final', 'history']),
  /** Of a compound state: the child that is entered. Of a history state: where it leads while it remembers nothing. */
  initial: z.string().optional(),
  history: z.enum(['shallow', 'deep']).optional(),
  /** What runs on the way into the initial child, where anything does. */
  initialActions: z.array(operation).optional(),
  /** Of a final state and of the root: that it says what came of it. Absent where it does not. */
  hasOutput: z.literal(true).optional(),
  description: z.string().optional(),
  tags: z.array(z.string()),
  entry: z.array(operation),
  exit: z.array(operation),
  invokes: z.array(invocation),
});

const transition = z.strictObject({
  id: z.string(),
  source: z.string(),
  event: z.string(),
  kind: z.enum(['event', 'wildcard', 'delayed', 'eventless', 'done', 'invoke-done', 'invoke-error', 'invoke-snapshot']),
  /** Its place among the transitions of its state for its event: the first whose guard holds is taken. */
  index: z.number(),
  /** Ids of states. Empty: the state stays, and only the actions run. */
  targets: z.array(z.string()),
  guard: operation.optional(),
  actions: z.array(operation),
  reenters: z.boolean(),
  /** Neither target nor action, and no guard: the event is taken and nothing happens, whatever an outer state says. */
  forbids: z.boolean(),
  /** Of a delayed one: milliseconds, or the name of the delay. */
  delay: z.union([z.number(), z.string()]).optional(),
  /** Of one that an invoked actor causes: its id in the state. */
  invoke: z.string().optional(),
  description: z.string().optional(),
});

const event = z.strictObject({
  type: z.string(),
  /**
   * `command`: the sender asks for something and must not be ignored. `fact`: tells what has happened; where it changes
   * nothing it may be ignored.
   */
  kind: z.enum(['command', 'fact']),
  /** What it says, as a sentence. */
  says: z.string().optional(),
  /** Who sends it. */
  from: z.string().optional(),
  /** Its fields beside `type`, with a question mark after those that may be left out. */
  fields: z.array(z.string()),
  /** False: the chart mentions it, and no registry does. */
  isDeclared: z.boolean(),
});

export const chartDescription = z.strictObject({
  format: z.literal('chart/1'),
  id: z.string(),
  version: z.string().optional(),
  description: z.string().optional(),
  /** In document order, the root first. */
  states: z.array(state),
  /** By state in document order, then in the order of the definition. */
  transitions: z.array(transition),
  /**
   * Declared ones in the order of their registry, then what is only mentioned. Wildcards and what the machine raises
   * itself are not among them.
   */
  events: z.array(event),
  /**
   * What becomes of an event that no transition takes: XState ignores it; the code that drives the chart may refuse it
   * before.
   */
  unhandled: z.strictObject({ as: z.enum(['ignored', 'rejected']), because: z.string().optional() }),
  waivers: z.array(waiver),
});

export type ChartDescription = z.output<typeof chartDescription>;
export type ChartState = z.output<typeof state>;
export type ChartTransition = z.output<typeof transition>;
export type ChartEvent = z.output<typeof event>;
export type ChartOperation = z.output<typeof operation>;
export type ChartInvocation = z.output<typeof invocation>;
export type ChartWaiver = z.output<typeof waiver>;
