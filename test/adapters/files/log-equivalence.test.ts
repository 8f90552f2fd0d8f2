/**
 * However a log is cut into segments, and wherever checkpoints of it are made: what it holds, and what it refuses,
 * stays the same.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { EventStore, NewSessionEvents } from '../../../src/actors/session/event-store.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { systemFileOperations } from '../../../src/adapters/files/file-operations.ts';
import type { FileOperations } from '../../../src/adapters/files/file-operations.ts';
import type { LogLimits } from '../../../src/adapters/files/session-log.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import {
  IDENTITY,
  SESSION_ID,
  created,
  foldAll,
  idOf,
  message,
  newEvent,
  wakeStarted,
} from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

interface AppendStep {
  readonly kind: 'append';
  readonly store: 0 | 1;
  readonly ids: readonly number[];
  readonly key?: string;
  readonly epoch?: number;
  readonly claims?: boolean;
  readonly atHead?: 'here' | 'before' | 'beyond';
}

type Step =
  | AppendStep
  | { readonly kind: 'checkpoint'; readonly store: 0 | 1 }
  | { readonly kind: 'reopen'; readonly store: 0 | 1 }
  | { readonly kind: 'read'; readonly store: 0 | 1; readonly from: number; readonly limit: number }
  | { readonly kind: 'find'; readonly store: 0 | 1; readonly key: string; readonly id: number };

const anyStore = fc.constantFrom<0 | 1>(0, 1);
const anyKey = fc.constantFrom('a', 'b', 'c', 'd');

/** Ids and keys from a small choice, so that many of them come again; with old ids far below the newest. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        kind: fc.constant('append' as const),
        store: anyStore,
        ids: fc.array(fc.integer({ min: 2, max: 40 }), { minLength: 1, maxLength: 3 }),
        key: anyKey,
        epoch: fc.integer({ min: 1, max: 3 }),
        claims: fc.boolean(),
        atHead: fc.constantFrom<'here' | 'before' | 'beyond'>('here', 'before', 'beyond'),
      },
      { requiredKeys: ['kind', 'store', 'ids'] },
    ),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('checkpoint' as const), store: anyStore }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const), store: anyStore }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      store: anyStore,
      from: fc.integer({ min: 1, max: 40 }),
      limit: fc.integer({ min: 1, max: 10 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('find' as const),
      store: anyStore,
      key: anyKey,
      id: fc.integer({ min: 1, max: 60 }),
    }),
  },
);

/** The order of things is what is tested here, not what a power failure leaves. */
const operations: FileOperations = {
  ...systemFileOperations,
  syncFile: async () => undefined,
  syncDirectory: async () => undefined,
};

async function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    const value = await promise;
    // How durable it is differs; everything else has to agree.
    return JSON.parse(
      JSON.stringify(value ?? null, (name, part: unknown) => (name === 'durability' ? undefined : part)),
    );
  } catch (error) {
    return RuntimeError.is(error) ? error.code : String(error);
  }
}

/** The same id never stands for the very same event: whose of two twins was stored cannot be told, and need not be. */
function eventsOf({ ids, epoch, claims }: AppendStep, step: number): NewSessionEvents {
  const [first = 2, ...rest] = ids;
  const at = new Date(Date.UTC(2026, 0, 1) + step).toISOString();
  const draft = claims === true && epoch !== undefined ? wakeStarted(epoch) : message(`m${first}`);
  return [
    { ...newEvent(first, draft, epoch), at },
    ...rest.map((n) => ({ ...newEvent(n, message(`m${n}`), epoch), at })),
  ];
}

async function everything(store: EventStore): Promise<readonly SessionEvent[]> {
  return store.read(SESSION_ID);
}

describe('a log in segments, with checkpoints and several writers,', () => {
  it.each([
    ['a segment for every record', { segmentBytes: 1, checkpointEvents: 1 }],
    ['a segment for some records', { segmentBytes: 900, checkpointEvents: 4 }],
    ['one segment', { checkpointEvents: 1 }],
    ['one segment and no checkpoint', {}],
  ])('does what one list in memory does: %s', async (_what, limits) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 15, maxLength: 60, size: 'max' }), (steps) =>
        compare(steps, limits),
      ),
      { numRuns: 20, endOnFailure: true },
    );
  });
});

async function compare(steps: readonly Step[], limits: LogLimits): Promise<void> {
  const home = await temporaryHome();
  const open = (): FileEventStore =>
    new FileEventStore({ home: home.path, clock: createSimulatedClock(), durability: 'os', operations, ...limits });
  const stores = [open(), open()];
  const model = new MemoryEventStore();
  try {
    await stores[0]?.create(IDENTITY, [newEvent(1, created)]);
    await model.create(IDENTITY, [newEvent(1, created)]);
    for (const [number, step] of steps.entries()) {
      const files = stores[step.store] ?? open();
      if (step.kind === 'reopen') {
        await files.close();
        stores[step.store] = open();
      } else await compareStep(step, number, files, model);
    }
    const expected = await everything(model);
    stores.push(open());
    for (const files of stores) expect(await everything(files)).toEqual(expected);
  } finally {
    await Promise.all(stores.map((files) => files.close()));
    await home.remove();
  }
}

const HEAD_OFFSETS = { here: 0, before: -1, beyond: 1 } as const;

async function compareStep(
  step: Exclude<Step, { readonly kind: 'reopen' }>,
  number: number,
  files: EventStore,
  model: EventStore,
): Promise<void> {
  const same = async (what: (store: EventStore) => Promise<unknown>): Promise<void> => {
    const expected = await outcomeOf(what(model));
    expect(await outcomeOf(what(files))).toEqual(expected);
  };
  switch (step.kind) {
    case 'checkpoint': {
      const state = foldAll(await everything(model));
      await files.saveView(state);
      return expect((await files.checkpoint(SESSION_ID))?.head).toBe(state.head);
    }
    case 'read':
      return same((store) => store.read(SESSION_ID, step));
    case 'find':
      await same((store) => store.findByKey(SESSION_ID, step.key));
      return same((store) => store.findById(SESSION_ID, idOf(step.id)));
    case 'append': {
      const head = await model.head(SESSION_ID);
      const expectedHead = step.atHead === undefined ? undefined : head + HEAD_OFFSETS[step.atHead];
      return same((store) =>
        store.append(SESSION_ID, eventsOf(step, number), { idempotencyKey: step.key, expectedHead }),
      );
    }
  }
}
