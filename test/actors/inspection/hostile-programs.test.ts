/**
 * Whatever a program sends, keeps or throws: the recorder goes on, the program does not notice, and no secret is
 * written down.
 */
import fc from 'fast-check';
import { assign, cancel, createActor, emit, fromCallback, fromPromise, raise, setup } from 'xstate';
import type { AnyActorRef } from 'xstate';
import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { BoundedCopy } from '../../../src/actors/inspection/bounded-copy.ts';
import { InspectedText } from '../../../src/actors/inspection/inspected-text.ts';
import { createRecorder } from '../../../src/actors/inspection/recorder.ts';
import type { Recorder, RecorderOptions } from '../../../src/actors/inspection/recorder.ts';
import { recorderLimits } from '../../../src/machines/inspection-log/recorder-limits.ts';
import { readRecord } from '../../../src/machines/inspection-log/read-record.ts';
import { KnownSecrets } from '../../../src/actors/vault/known-secrets.ts';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';
import { settled } from '../../support/manual-runner.ts';
import { historyOf, replayed } from './replay.ts';

const reported: unknown[] = [];
let recorder: Recorder | undefined;
const record = (root: AnyActorRef, options: Partial<RecorderOptions> = {}): Recorder => {
  recorder = createRecorder({
    root,
    clock: createSimulatedClock(),
    boot: 'b',
    onListenerError: (error) => reported.push(error),
    ...options,
  });
  return recorder;
};
afterEach(() => {
  recorder?.detach();
  reported.length = 0;
});

/** A machine that keeps what it is sent. */
const keeper = setup({
  types: { context: {} as { kept: unknown }, events: {} as { type: string; given?: unknown } },
}).createMachine({
  id: 'keeper',
  context: { kept: undefined },
  initial: 'open',
  states: { open: { on: { '*': { actions: assign({ kept: ({ event }) => event.given }) } } } },
});
const keep = (given: unknown, options: Partial<RecorderOptions> = {}): Recorder => {
  const actor = createActor(keeper, { id: 'keeper' }).start();
  const made = record(actor, options);
  actor.send({ type: 'KEEP', given });
  return made;
};
const givenOf = async (made: Recorder): Promise<unknown> =>
  (await historyOf(made)).flatMap((each) => (each.k === 'event' ? [each.data] : [])).at(-1);
const isReadable = (records: readonly unknown[]): boolean =>
  records.every((each) => 'record' in readRecord(JSON.parse(JSON.stringify(each))));

class Vault {
  readonly secret = 'of an instance';
}
const circular: Record<string, unknown> = { name: 'ring' };
circular['self'] = circular;
const throwing = new Proxy(
  {},
  {
    ownKeys: () => {
      throw new Error('no keys');
    },
    getPrototypeOf: () => {
      throw new Error('no prototype');
    },
  },
);
let asked = 0;
const tricky = {
  get price(): string {
    asked += 1;
    throw new Error('asked');
  },
  toJSON: () => {
    asked += 1;
    throw new Error('asked');
  },
};

describe('a payload', () => {
  it.each([
    ['a circle', circular, { name: 'ring', self: '«circular»' }],
    ['a getter, which is not called', tricky, { price: '«getter»', toJSON: '«function»' }],
    ['a proxy that throws', throwing, '«unreadable»'],
    ['an instance of a class', new Vault(), '«Vault»'],
    ['a bigint', 12n, '12n'],
    ['a huge bigint', 1n << 100_000n, '«a huge bigint»'],
    ['a map', new Map([['one', { two: 2 }]]), { '«Map»': [['one', { two: 2 }]] }],
    ['a set', new Set([1]), { '«Set»': [1] }],
    ['something that says it is a map', Object.create(Map.prototype), '«unreadable»'],
    ['an error', new RangeError('too far'), { error: '«RangeError»', message: 'too far' }],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a broken date', new Date(Number.NaN), '«invalid date»'],
    ['bytes', new Uint8Array(3), '«Uint8Array of 3 bytes»'],
    ['no number', Number.NaN, '«NaN»'],
    ['a symbol', Symbol('mark'), '«mark»'],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { plain: true }), { plain: true }],
    [
      'a prototype as a key',
      JSON.parse('{"__proto__":{"polluted":true}}') as unknown,
      JSON.parse('{"__proto__":{"polluted":true}}') as unknown,
    ],
  ])('of %s is told as plain data', async (_what, given, told) => {
    const made = keep(given);
    expect(await givenOf(made)).toEqual({ given: told });
    expect(Object.hasOwn({}, 'polluted')).toBe(false);
    expect(asked).toBe(0);
    expect(made.statistics.faults).toBe(0);
    expect(isReadable(await historyOf(made))).toBe(true);
  });

  it('is bounded in depth, breadth and length, and says so', async () => {
    let deep: unknown = 'bottom';
    for (let depth = 0; depth < 10_000; depth += 1) deep = { deep };
    for (const given of [
      deep,
      Array.from({ length: 100_000 }, () => 'x'),
      'x'.repeat(10_000_000),
      Array.from({ length: 60 }, () => 'y'.repeat(2_000)),
    ]) {
      const made = keep(given);
      const event = (await historyOf(made)).findLast((each) => each.k === 'event');
      expect(event).toMatchObject({ cut: true });
      expect(JSON.stringify(event).length).toBeLessThan(20_000);
    }
  });

  it('is a value: what the program changes later was recorded as it was', async () => {
    const given = { count: 1 };
    const made = keep(given);
    given.count = 2;
    expect(await givenOf(made)).toEqual({ given: { count: 1 } });
  });

  it('with very many keys is listed once, and told by what it is from then on', async () => {
    let listed = 0;
    const wide = new Proxy(Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`key${index}`, index])), {
      ownKeys(target) {
        listed += 1;
        return Reflect.ownKeys(target);
      },
    });
    const actor = createActor(keeper, { id: 'keeper' }).start();
    const made = record(actor);
    for (let times = 0; times < 5; times += 1) actor.send({ type: 'KEEP', given: wide });
    expect(listed).toBe(1);
    expect(await givenOf(made)).toMatchObject({ given: '«object of more than 10000 keys»' });
  });

  it('of any shape is copied within its bounds', () => {
    const limits = recorderLimits.parse({});
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withNullPrototype: true,
          withSparseArray: true,
          maxDepth: 8,
        }),
        (value) => {
          const json: string | undefined = JSON.stringify(
            new BoundedCopy(new InspectedText(undefined), limits).of(value),
          );
          expect(json?.length ?? 0).toBeLessThan(limits.payload * 7);
        },
      ),
    );
  });
});

describe('a turn with too many payloads', () => {
  it('leaves payloads out and says how many, but no event and no step', async () => {
    const actor = createActor(keeper).start();
    const made = record(actor, { limits: { charactersPerTurn: 1_000 } });
    for (let count = 0; count < 100; count += 1) actor.send({ type: 'KEEP', given: 'x'.repeat(200) });
    const records = await historyOf(made);
    expect(records.filter((each) => each.k === 'event')).toHaveLength(100);
    expect(records.filter((each) => each.k === 'step')).toHaveLength(100);
    expect(records.at(-1)).toMatchObject({ k: 'step', cut: true });
    expect(made.statistics.droppedPayloads).toBeGreaterThan(150);
    await settled();
    actor.send({ type: 'KEEP', given: 'again' });
    expect(await givenOf(made)).toEqual({ given: 'again' });
  });
});

describe('secrets', () => {
  const SECRET = 'sk-live-3f"9Ü/+4711 0815';
  const redaction = new SecretRedaction(
    new Map([
      ['KEY', SECRET],
      ['PIN', '4711081512'],
    ]),
  );
  const FORMS = [
    SECRET,
    JSON.stringify(SECRET).slice(1, -1),
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString('base64'),
    Buffer.from(SECRET).toString('hex'),
  ];

  it('are in no record, in whatever form and wherever they stood', async () => {
    const actor = createActor(keeper, { id: `keeper-${SECRET}` }).start();
    const made = record(actor, { redact: (text) => redaction.text(text), factsOf: () => ({ [SECRET]: SECRET }) });
    for (const form of [
      ...FORMS,
      'x'.repeat(1_990) + SECRET,
      'x'.repeat(2_000 + 8_192 - 5) + SECRET + 'y'.repeat(9_000),
    ]) {
      actor.send({
        type: `KEEP ${form}`,
        given: { [form]: [form, new Error(form), new Map([[form, form]])], pin: 4_711_081_512, big: 4_711_081_512n },
      });
    }
    const text = (await historyOf(made)).map((each) => JSON.stringify(each)).join('\n');
    expect(text).toContain('[redacted KEY]');
    expect(FORMS.filter((form) => text.includes(form))).toEqual([]);
    expect(text).not.toContain('sk-live');
    expect(text).not.toContain('4711081512');
  });

  it('that are learned later are in no record either, for all who read from then on', async () => {
    const secret = 'sk-live-0123456789abcdef';
    const known = new KnownSecrets();
    const redact = Object.assign((text: string) => known.redaction?.text(text) ?? text, {
      version: () => known.version,
    });
    const actor = createActor(keeper, { id: 'keeper' }).start();
    const made = record(actor, { redact, limits: { records: 4 } });
    const send = (): void => actor.send({ type: `KEEP ${secret}`, given: { [secret]: [`Bearer ${secret}`] } });
    send();
    expect(JSON.stringify(await historyOf(made))).toContain(secret);
    known.learn('vault/key', secret);
    send();
    for (let times = 0; times < 2; times += 1) {
      const records = await historyOf(made);
      expect(JSON.stringify(records)).not.toContain(secret);
      expect(records.filter((each) => each.k === 'event').map(({ type, data }) => ({ type, data }))).toContainEqual({
        type: 'KEEP [redacted vault/key]',
        data: { given: { '[redacted vault/key]': ['Bearer [redacted vault/key]'] } },
      });
      expect(isReadable(records)).toBe(true);
    }
    known.learn('vault/other', 'another-secret-value');
    expect(JSON.stringify(await historyOf(made))).not.toContain(secret);
  });

  it('stay where they are when the redaction breaks: then nothing of the text is told', async () => {
    const made = keep('very secret', {
      redact: () => {
        throw new Error('broken');
      },
    });
    expect(JSON.stringify(await historyOf(made))).not.toContain('secret');
    expect(JSON.stringify(await historyOf(keep('very secret', { redact: (() => 7) as never })))).not.toContain(
      'secret',
    );
  });
});

describe('what is learned between two turns', () => {
  it('is taken out of the names of the next one: names are redacted anew in each', async () => {
    const secrets = new Map<string, string>();
    const actor = createActor(keeper).start();
    const made = record(actor, { redact: (text) => new SecretRedaction(secrets).text(text) });
    actor.send({ type: 'KEEP a-long-secret' });
    await settled();
    secrets.set('KEY', 'a-long-secret');
    actor.send({ type: 'KEEP a-long-secret' });
    expect((await historyOf(made)).flatMap((each) => (each.k === 'event' ? [each.type] : []))).toEqual([
      'KEEP a-long-secret',
      'KEEP [redacted KEY]',
    ]);
  });
});

describe('a program that acts while it is recorded', () => {
  it.each(['its clock', 'a proxy that it sends', 'its redaction'])(
    'from %s has both told, each as it was',
    async (from) => {
      const actor = createActor(keeper, { id: 'keeper' }).start();
      const clock = createSimulatedClock();
      let isActing = false;
      const actFrom = (place: string): void => {
        if (isActing || place !== from) return;
        isActing = true;
        actor.send({ type: 'WITHIN', given: 'inner' });
      };
      const redact = (text: string): string => {
        if (text === 'outer') actFrom('its redaction');
        return text;
      };
      const made = record(actor, { clock, redact });
      const now = clock.now.bind(clock);
      clock.now = () => {
        actFrom('its clock');
        return now();
      };
      const ownKeys = (): string[] => {
        actFrom('a proxy that it sends');
        return [];
      };
      actor.send({ type: 'KEEP', given: { said: 'outer', more: new Proxy({}, { ownKeys }) } });
      await settled();
      const records = await historyOf(made);
      const events = new Map(records.flatMap((each) => (each.k === 'event' ? [[each.type, each]] : [])));
      expect(isActing).toBe(true);
      expect(events.get('WITHIN')).toMatchObject({ data: { given: 'inner' } });
      expect(events.get('KEEP')).toMatchObject({ data: { given: { said: 'outer' } } });
      expect(records.map(({ s }) => s)).toEqual(records.map((_, index) => index + 1));
      expect(isReadable(records)).toBe(true);
      expect(made.statistics.faults).toBe(0);
    },
  );
});

describe('an actor that breaks', () => {
  it('in an action is found after the turn, and XState reports it as if it had not been checked', async () => {
    const machine = setup({
      actions: {
        fail: () => {
          throw new TypeError('no such file');
        },
      },
    }).createMachine({ id: 'fragile', initial: 'a', states: { a: { on: { GO: { actions: 'fail' } } } } });
    const parent = createActor(
      setup({ actors: { machine } }).createMachine({
        id: 'parent',
        invoke: { src: 'machine', id: 'child', onError: '.sorry' },
        initial: 'fine',
        states: { fine: {}, sorry: {} },
      }),
    ).start();
    const made = record(parent);
    (parent.getSnapshot().children as Record<string, AnyActorRef>)['child']?.send({ type: 'GO' });
    await settled();
    const records = await historyOf(made);
    expect(records.find((each) => each.k === 'error')).toMatchObject({ message: 'no such file' });
    expect([...replayed(records).values()]).toEqual([
      { id: expect.any(String) as string, value: 'sorry', status: 'active' },
      { id: 'child', value: 'a', status: 'error' },
    ]);
  });

  it('without a parent is found as well', async () => {
    const machine = setup({
      actions: {
        fail: () => {
          throw new TypeError('alone');
        },
      },
    }).createMachine({ id: 'alone', initial: 'a', states: { a: { on: { GO: { actions: 'fail' } } } } });
    const root = createActor(machine).start();
    // XState ends the process for an error that is not heard of.
    root.subscribe({ error: () => undefined });
    const made = record(root);
    root.send({ type: 'GO' });
    await settled();
    expect((await historyOf(made)).slice(-2)).toMatchObject([
      { k: 'error', message: 'alone' },
      { k: 'snap', status: 'error' },
    ]);
    expect(made.statistics.actors).toBe(0);
  });

  it('as a promise that is rejected tells why', async () => {
    const parent = createActor(
      setup({
        actors: { work: fromPromise(() => Promise.reject(Object.assign(new Error('refused'), { code: 'E_NO' }))) },
      }).createMachine({
        initial: 'idle',
        states: { idle: { on: { GO: 'busy' } }, busy: { invoke: { src: 'work', onError: 'sorry' } }, sorry: {} },
      }),
    ).start();
    const made = record(parent);
    parent.send({ type: 'GO' });
    while (parent.getSnapshot().value !== 'sorry') await settled();
    expect(await historyOf(made)).toContainEqual(
      expect.objectContaining({ k: 'error', message: 'refused', code: 'E_NO' }),
    );
  });
});

describe('what XState does by itself', () => {
  it('is told: timers that are set, fire and are cleared, what is emitted, actions, and actors without a chart', async () => {
    const clock = createSimulatedClock();
    const machine = setup({
      actors: { listen: fromCallback(() => undefined) },
      actions: { log: (_args, _params: { readonly words: string }) => undefined },
      types: { emitted: {} as { type: 'said'; words: string } },
    }).createMachine({
      id: 'timers',
      initial: 'waiting',
      states: {
        waiting: {
          invoke: { src: 'listen' },
          after: { 1_000: 'late' },
          on: {
            SAY: { actions: [emit({ type: 'said', words: 'hello' }), { type: 'log', params: { words: 'logged' } }] },
            LEAVE: 'left',
            LATER: { actions: raise({ type: 'SAY' }, { delay: 50, id: 'later' }) },
            NEVER: { actions: cancel('later') },
          },
        },
        late: {},
        left: { always: 'late' },
      },
    });
    const root = createActor(machine, { clock }).start();
    const made = record(root, { clock });
    root.send({ type: 'SAY' });
    root.send({ type: 'LATER' });
    root.send({ type: 'NEVER' });
    root.send({ type: 'LEAVE' });
    root.send({ type: 'UNHEARD' });
    const records = await historyOf(made);
    expect(records.filter(({ k }) => k === 'emit')).toMatchObject([{ type: 'said', data: { words: 'hello' } }]);
    expect(records.filter(({ k }) => k === 'action')).toMatchObject([{ name: 'log', params: { words: 'logged' } }]);
    expect(records.filter(({ k }) => k === 'timer')).toMatchObject([{ delayMs: 1_000 }, { id: 'later', delayMs: 50 }]);
    expect(records.filter(({ k }) => k === 'cancel')).toMatchObject([
      { id: 'later' },
      { id: expect.stringContaining('after.1000') as string },
    ]);
    const steps = records.flatMap((each) => (each.k === 'step' ? [each] : []));
    expect(steps.slice(-3).map(({ taken, e }) => [taken, e])).toEqual([
      [['waiting|LEAVE|0'], 4],
      [['left|always|0'], 4],
      [[], 5],
    ]);
    expect(records.flatMap((each) => (each.k === 'actor' && each.chart === undefined ? [each.kind] : []))).toEqual([
      'listen',
    ]);
    expect(made.statistics).toMatchObject({ faults: 0, actors: 1 });
  });
});

describe('a recorder that breaks', () => {
  it('hurts no other: the program goes on, and it is said once', async () => {
    const actor = createActor(keeper).start();
    const clock = createSimulatedClock();
    const made = record(actor, { clock });
    clock.now = () => {
      throw new Error('planted');
    };
    for (let count = 0; count < 3; count += 1) actor.send({ type: 'KEEP', given: count });
    expect(actor.getSnapshot().context.kept).toBe(2);
    expect(made.statistics.faults).toBeGreaterThan(2);
    await settled();
    expect(reported).toHaveLength(1);
  });

  it('hurts no follower, and a follower that throws hurts no other either', async () => {
    const actor = createActor(keeper).start();
    const made = record(actor, {
      factsOf: () => {
        throw new Error('planted');
      },
    });
    let told = 0;
    made.follow(() => {
      throw new Error('a bad follower');
    });
    made.follow(() => (told += 1));
    actor.send({ type: 'KEEP', given: 1 });
    await settled();
    expect(actor.getSnapshot().context.kept).toBe(1);
    expect(told).toBeGreaterThan(0);
    expect(reported.map(String)).toEqual(['Error: planted', 'Error: a bad follower']);
  });
});
