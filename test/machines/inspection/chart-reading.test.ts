import {
  and,
  assign,
  createActor,
  createEmptyActor,
  emit,
  enqueueActions,
  fromPromise,
  log,
  not,
  or,
  raise,
  sendTo,
  setup,
  stateIn,
} from 'xstate';
import type { AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { describeChart, transitionIds } from '../../../src/machines/inspection/describe-chart.ts';
import { matchesEvent } from '../../../src/machines/inspection/event-match.ts';
import { exploredMachine } from '../../../src/machines/inspection/explored-machine.ts';
import {
  initialSnapshotOf,
  nextSnapshotOf,
  reportMicrostep,
  transitionsTaken,
} from '../../../src/machines/xstate-internals.ts';

const never = fromPromise(() => new Promise<void>(() => undefined));

const machine = setup({
  guards: { a: () => true, b: () => false },
  actors: { work: never },
  actions: { go: () => undefined },
  delays: { soon: 10 },
}).createMachine({
  id: 'x',
  version: '2',
  initial: 'one',
  context: {},
  states: {
    one: {
      entry: 'go',
      invoke: [
        { src: 'work', onDone: 'two', onError: 'two', onSnapshot: { actions: 'go' } },
        { id: 'given', src: never as never, onError: 'two' },
      ],
      after: { soon: 'two', 1000: 'two' },
      on: {
        A: [
          { guard: and(['a', not('b')]), target: 'two' },
          { guard: or(['a', 'b']), target: 'two' },
          { guard: { type: 'a' }, target: 'two' },
          { guard: stateIn('#x.one') },
          { guard: () => true, reenter: true, target: 'one' },
        ],
        B: undefined,
        C: {
          actions: [
            'go',
            assign({}),
            raise({ type: 'A' }),
            log('x'),
            emit({ type: 'e' }),
            sendTo('work', { type: 'E' }),
            enqueueActions(() => undefined),
            () => undefined,
          ],
        },
        'part.*': 'two',
        '*': 'two',
      },
    },
    two: {
      type: 'parallel',
      states: {
        p: {
          initial: 'i',
          states: {
            i: { always: { guard: 'b', target: 'f' } },
            f: { type: 'final' },
            before: { type: 'history', history: 'deep' },
          },
        },
        q: { initial: 'f', states: { f: { type: 'final' } } },
      },
      onDone: 'three',
    },
    three: { type: 'final' },
  },
}) as unknown as AnyStateMachine;

describe('what a chart is read as', () => {
  const chart = describeChart(machine);
  const byId = new Map(chart.transitions.map((transition) => [transition.id, transition]));

  it('names what XState raises itself as people do', () => {
    expect(chart.transitions.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
      'one|A|0 event',
      'one|A|1 event',
      'one|A|2 event',
      'one|A|3 event',
      'one|A|4 event',
      'one|B|0 event',
      'one|C|0 event',
      'one|part.*|0 wildcard',
      'one|*|0 wildcard',
      'one|done(work)|0 invoke-done',
      'one|error(work)|0 invoke-error',
      'one|snapshot(work)|0 invoke-snapshot',
      'one|error(given)|0 invoke-error',
      'one|after(1000)|0 delayed',
      'one|after(soon)|0 delayed',
      'two|done|0 done',
      'two.p.i|always|0 eventless',
    ]);
  });

  it('names guards, also of guards, and tells those without a name', () => {
    expect([0, 1, 2, 3, 4].map((place) => byId.get(`one|A|${place}`)?.guard)).toEqual([
      { name: 'and(a, not(b))', isInline: false },
      { name: 'or(a, b)', isInline: false },
      { name: 'a', isInline: false },
      { name: 'stateIn', isInline: false },
      { name: '(inline)', isInline: true },
    ]);
    expect(byId.get('one|A|4')?.reenters).toBe(true);
  });

  it('names actions, and tells those without a name', () => {
    expect(byId.get('one|C|0')?.actions.map(({ name }) => name)).toEqual([
      'go',
      '(assign)',
      '(raise A)',
      '(log)',
      '(emit)',
      '(sendTo)',
      '(enqueueActions)',
      '(inline)',
    ]);
  });

  it('leaves out the actions by which XState keeps timers', () => {
    const one = chart.states.find(({ id }) => id === 'one');
    expect([one?.entry, one?.exit]).toEqual([[{ name: 'go', isInline: false }], []]);
    expect(one?.invokes).toEqual([
      { id: 'work', source: { name: 'work', isInline: false }, handlesDone: true, handlesError: true },
      { id: 'given', source: { name: '(inline)', isInline: true }, handlesDone: false, handlesError: true },
    ]);
  });

  it('knows forbidden events, parallel, final and history states', () => {
    expect(byId.get('one|B|0')?.forbids).toBe(true);
    expect(chart.states.map(({ id, kind, initial }) => [id, kind, initial])).toEqual([
      ['', 'compound', 'one'],
      ['one', 'atomic', undefined],
      ['two', 'parallel', undefined],
      ['two.p', 'compound', 'two.p.i'],
      ['two.p.i', 'atomic', undefined],
      ['two.p.f', 'final', undefined],
      ['two.p.before', 'history', 'two.p.i'],
      ['two.q', 'compound', 'two.q.f'],
      ['two.q.f', 'final', undefined],
      ['three', 'final', undefined],
    ]);
    expect(chart.version).toBe('2');
  });
});

describe('what is relied on of XState', () => {
  it('reports the very objects that were read as the transitions it takes', () => {
    const ids = transitionIds(machine);
    const seen: (string | undefined)[] = [];
    const actor = createActor(machine, {
      inspect: (event) => {
        if (event.type === '@xstate.microstep') seen.push(...event._transitions.map((taken) => ids.get(taken)));
      },
    });
    actor.start();
    actor.send({ type: 'part.one' });
    actor.stop();
    expect(seen).not.toContain(undefined);
    expect(seen).toContain('one|part.*|0');
  });

  it('orders wildcards from the longest to the shortest, and a prefix means its own name too', () => {
    const explored = exploredMachine(machine);
    const { snapshot } = explored.start(undefined);
    const taken = (type: string): readonly string[] =>
      snapshot === undefined ? [] : explored.step(snapshot, { type }).taken;
    expect([taken('part'), taken('part.a.b'), taken('party')]).toEqual([
      ['one|part.*|0'],
      ['one|part.*|0'],
      ['one|*|0'],
    ]);
    expect([matchesEvent('part', 'part.*'), matchesEvent('party', 'part.*'), matchesEvent('x', '*')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('lets a wildcard take what it raises itself, and takes done, error and timer events by these names', () => {
    const explored = exploredMachine(machine);
    const { snapshot } = explored.start(undefined);
    const taken = (type: string): readonly string[] =>
      snapshot === undefined ? [] : explored.step(snapshot, { type }).taken;
    expect(
      [
        'xstate.done.actor.0.x.one',
        'xstate.error.actor.given',
        'xstate.after.soon.x.one',
        'xstate.done.actor.given',
      ].map(taken),
    ).toEqual([['one|done(work)|0'], ['one|error(given)|0'], ['one|after(soon)|0'], ['one|*|0']]);
  });

  it('answers transitions, snapshots and microsteps in the shapes that compiled lifecycles read', () => {
    const { self, system } = ((actor) => ({ self: actor, system: actor.system }))(createEmptyActor());
    const nothing = (): void => undefined;
    const scope = {
      self,
      system,
      id: '',
      sessionId: '',
      logger: nothing,
      defer: nothing,
      stopChild: nothing,
      emit: nothing,
      actionExecutor: nothing,
    } as never;
    const first = initialSnapshotOf(machine, scope);
    expect({ status: first.status, value: first.value, hasTags: first.tags instanceof Set }).toEqual({
      status: 'active',
      value: 'one',
      hasTags: true,
    });
    expect(transitionsTaken(machine, first, { type: 'B' }).map(({ target }) => target)).toEqual([undefined]);
    expect(nextSnapshotOf(machine, first, { type: 'part.x' }, scope).value).toEqual({ two: { p: 'i', q: 'f' } });
    const seen: object[] = [];
    system.inspect((event) => seen.push(event));
    reportMicrostep(scope, { type: 'A' }, first, []);
    expect(seen).toMatchObject([{ type: '@xstate.microstep', event: { type: 'A' }, _transitions: [] }]);
  });

  it('stops a machine that goes in circles at the limit it is given, and asks guards through the answer of not', () => {
    const circle = setup({ guards: { yes: () => true } }).createMachine({
      id: 'c',
      initial: 'a',
      states: { a: { on: { GO: { guard: 'yes', target: 'b' } } }, b: { always: 'd' }, d: { always: 'b' } },
    }) as unknown as AnyStateMachine;
    const explored = exploredMachine(circle);
    const { snapshot } = explored.start(undefined);
    expect(snapshot === undefined ? undefined : explored.step(snapshot, { type: 'GO' })).toMatchObject({
      isEndless: true,
      snapshot: undefined,
    });
    expect(explored.answers.get('a|GO|0')).toEqual({ hasHeld: true, hasFailed: false });
  });
});
