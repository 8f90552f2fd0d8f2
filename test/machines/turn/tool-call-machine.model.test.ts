/**
 * The chart of a tool call against a table of everything that it may do: every state and transition, and nothing else.
 */
import { createActor, fromPromise, toPromise } from 'xstate';
import type { Actor } from 'xstate';
import { describe, expect, it } from 'vitest';
import { toolCallMachine } from '../../../src/machines/turn/tool-call-machine.ts';
import type { ToolCallEvent, ToolCallInput, ToolCallResult } from '../../../src/machines/turn/tool-call-machine.ts';
import { pathsOverEveryTransition } from '../../support/graph-paths.ts';

const INPUT: ToolCallInput = { callId: 'c', name: 't', input: {} };

/** What somebody sends, by type. The types of an actor's own events are those of XState. */
const EVENTS: Readonly<Record<ToolCallEvent['type'], ToolCallEvent>> = {
  ASK_PERMISSION: { type: 'ASK_PERMISSION' },
  ASK_INPUT: { type: 'ASK_INPUT' },
  RUN: { type: 'RUN' },
  ANSWER: { type: 'ANSWER', outcome: 'completed', output: 'an answer' },
  DENY: { type: 'DENY', reason: 'no' },
  CANCEL: { type: 'CANCEL', reason: 'enough' },
  LOSE: { type: 'LOSE', reason: 'killed' },
};
const TYPES = Object.keys(EVENTS) as ToolCallEvent['type'][];

const WORKING = { executing: 'working' };
const STOPPING = { executing: 'stopping' };

const TABLE = [
  ['requested', 'ASK_PERMISSION', 'awaiting_permission'],
  ['requested', 'ASK_INPUT', 'awaiting_input'],
  ['requested', 'RUN', WORKING],
  ['requested', 'DENY', 'denied'],
  ['requested', 'CANCEL', 'cancelled'],
  ['awaiting_permission', 'RUN', WORKING],
  ['awaiting_permission', 'ASK_INPUT', 'awaiting_input'],
  ['awaiting_permission', 'DENY', 'denied'],
  ['awaiting_permission', 'CANCEL', 'cancelled'],
  ['awaiting_input', 'ANSWER', 'completed'],
  ['awaiting_input', 'CANCEL', 'cancelled'],
  [WORKING, 'CANCEL', STOPPING],
  [WORKING, 'LOSE', 'unknown'],
  [STOPPING, 'LOSE', 'unknown'],
] as const;

const WAYS: Readonly<Record<string, readonly ToolCallEvent['type'][]>> = {
  requested: [],
  awaiting_permission: ['ASK_PERMISSION'],
  awaiting_input: ['ASK_INPUT'],
  [JSON.stringify(WORKING)]: ['RUN'],
  [JSON.stringify(STOPPING)]: ['RUN', 'CANCEL'],
};

const ENDED = ['completed', 'failed', 'denied', 'cancelled', 'unknown'] as const;
const nameOf = (state: unknown): string => (typeof state === 'string' ? state : JSON.stringify(state));

/** An actor that has taken this way; its execution never ends by itself. */
function after(
  types: readonly ToolCallEvent['type'][],
  execute: () => Promise<ToolCallResult> = () => new Promise(() => undefined),
): Actor<typeof toolCallMachine> {
  const actor = createActor(
    toolCallMachine.provide({ actors: { execute: fromPromise<ToolCallResult, ToolCallInput>(execute) } }),
    { input: INPUT },
  ).start();
  for (const type of types) actor.send(EVENTS[type]);
  return actor;
}

describe('the chart of a tool call', () => {
  it.each(TABLE)('goes from %j on %s to %j', (from, type, to) => {
    const actor = after(WAYS[nameOf(from)] ?? []);
    expect(actor.getSnapshot().value).toEqual(from);
    expect(actor.getSnapshot().can(EVENTS[type])).toBe(true);
    actor.send(EVENTS[type]);
    expect(actor.getSnapshot().value).toEqual(to);
  });

  it.each(Object.entries(WAYS))('ignores in %s whatever else is sent, and its context stays as it is', (from, way) => {
    const allowed = new Set<string>(TABLE.filter(([state]) => nameOf(state) === from).map(([, type]) => type));
    const others = TYPES.filter((type) => !allowed.has(type));
    expect(others.length + allowed.size).toBe(TYPES.length);
    for (const type of others) {
      const actor = after(way);
      const before = actor.getSnapshot();
      expect([type, before.can(EVENTS[type])]).toEqual([type, false]);
      actor.send(EVENTS[type]);
      expect([type, actor.getSnapshot().value, actor.getSnapshot().context]).toEqual([
        type,
        before.value,
        before.context,
      ]);
    }
  });

  it('reaches from its start every transition that somebody can cause, along the ways that the graph finds', () => {
    const paths = pathsOverEveryTransition(toolCallMachine, TYPES);
    const found = paths.map(({ last }) => `${nameOf(last.from)} ${last.event}`);
    expect(found.toSorted()).toEqual(TABLE.map(([from, type]) => `${nameOf(from)} ${type}`).toSorted());
    for (const { events, last } of paths) {
      const actor = after(events as ToolCallEvent['type'][]);
      const to = TABLE.find(([from, type]) => nameOf(from) === nameOf(last.from) && type === last.event)?.[2];
      expect(actor.getSnapshot().value).toEqual(to);
    }
  });

  it('has nothing but final states beside those', () => {
    const states = Object.keys(toolCallMachine.states);
    expect(states.toSorted()).toEqual(
      [...ENDED, 'awaiting_input', 'awaiting_permission', 'executing', 'requested'].toSorted(),
    );
    expect(
      states
        .filter(
          (name) =>
            (toolCallMachine.states as Readonly<Record<string, { readonly type: string }>>)[name]?.type === 'final',
        )
        .toSorted(),
    ).toEqual(ENDED.toSorted());
  });
});

describe('what a tool call came to', () => {
  it.each<[string, readonly ToolCallEvent[], ToolCallResult]>([
    ['its answer', [EVENTS.ASK_INPUT, EVENTS.ANSWER], { outcome: 'completed', output: 'an answer' }],
    [
      'an answer that is a failure',
      [EVENTS.ASK_INPUT, { type: 'ANSWER', outcome: 'failed', output: 'broken' }],
      { outcome: 'failed', output: 'broken' },
    ],
    [
      'the answer that was waited for after the permission',
      [EVENTS.ASK_PERMISSION, EVENTS.ASK_INPUT, EVENTS.ANSWER],
      { outcome: 'completed', output: 'an answer' },
    ],
    ['why it was denied', [EVENTS.ASK_PERMISSION, EVENTS.DENY], { outcome: 'denied', output: 'no' }],
    ['why it was denied at once', [EVENTS.DENY], { outcome: 'denied', output: 'no' }],
    ['why it was taken back', [EVENTS.ASK_INPUT, EVENTS.CANCEL], { outcome: 'cancelled', output: 'enough' }],
    ['what is known of one that was lost', [EVENTS.RUN, EVENTS.LOSE], { outcome: 'unknown', output: 'killed' }],
    [
      'what is known of one that was lost while it stopped',
      [EVENTS.RUN, EVENTS.CANCEL, EVENTS.LOSE],
      { outcome: 'unknown', output: 'killed' },
    ],
    [
      'the first thing that ended it, whatever comes later',
      [EVENTS.ASK_PERMISSION, EVENTS.DENY, EVENTS.RUN, EVENTS.CANCEL],
      { outcome: 'denied', output: 'no' },
    ],
  ])('is %s', async (_what, events, expected) => {
    const actor = after([]);
    for (const event of events) if (actor.getSnapshot().status === 'active') actor.send(event);
    expect(actor.getSnapshot().value).toBe(expected.outcome);
    expect(await toPromise(actor)).toEqual(expected);
  });

  it.each(['completed', 'cancelled', 'failed'] as const)(
    'is that it %s, when its execution says so while it stops',
    async (outcome) => {
      let end: (result: ToolCallResult) => void = () => undefined;
      const actor = after(
        ['RUN', 'CANCEL'],
        () =>
          new Promise((resolve) => {
            end = resolve;
          }),
      );
      end({ outcome, output: 1, kept: { path: 'p', characters: 2 } });
      expect(await toPromise(actor)).toEqual({ outcome, output: 1, kept: { path: 'p', characters: 2 } });
      expect(actor.getSnapshot().value).toBe(outcome);
    },
  );

  it.each(['denied', 'unknown'] as const)(
    'is never that an execution was %s: that counts as failed',
    async (outcome) => {
      const actor = after(['RUN'], async () => ({ outcome, output: 'x' }));
      await toPromise(actor);
      expect(actor.getSnapshot().value).toBe('failed');
    },
  );

  it('is a failure when its execution throws while it stops', async () => {
    let fail: (error: Error) => void = () => undefined;
    const actor = after(
      ['RUN', 'CANCEL'],
      () =>
        new Promise((_resolve, reject) => {
          fail = reject;
        }),
    );
    fail(new Error('boom'));
    expect(await toPromise(actor)).toEqual({ outcome: 'failed', output: 'boom' });
  });

  it('is executed with its own input, once, however often somebody says to run it', async () => {
    const seen: ToolCallInput[] = [];
    const machine = toolCallMachine.provide({
      actors: {
        execute: fromPromise<ToolCallResult, ToolCallInput>(async ({ input }) => {
          seen.push(input);
          return { outcome: 'completed', output: 1 };
        }),
      },
    });
    const actor = createActor(machine, { input: INPUT }).start();
    actor.send(EVENTS.RUN);
    actor.send(EVENTS.RUN);
    await toPromise(actor);
    expect(seen).toMatchObject([INPUT]);
  });

  it('says which executor is missing where none was given', async () => {
    const actor = createActor(toolCallMachine, { input: INPUT }).start();
    actor.send(EVENTS.RUN);
    expect(await toPromise(actor)).toEqual({
      outcome: 'failed',
      output: 'the tool call chart has no actor for "execute"',
    });
  });
});
