/**
 * Stores and indexes that keep their contracts but for one thing: what the contracts are for is to find each of them.
 */
import { MemoryActivations } from '../../src/adapters/memory/memory-activations.ts';
import { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import type { ActivationIndex } from '../../src/actors/session/activation-index.ts';
import type { EventStore, WakeRight } from '../../src/actors/session/event-store.ts';
import type { NewSessionEvent } from '../../src/machines/session/session-event.ts';

/** What is wrong with it, a part of the sentence that finds it, and the members that are not as they should be. */
type Broken<Subject> = readonly [flaw: string, foundBy: string, change: (sound: Subject) => Partial<Subject>];

/** The sound subject with some of its members replaced. */
function withMembers<Subject extends object>(sound: Subject, changed: Partial<Subject>): Subject {
  return new Proxy(sound, {
    get(target, name) {
      if (Object.hasOwn(changed, name)) return Reflect.get(changed, name) as unknown;
      const member = Reflect.get(target, name, target) as unknown;
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

export function brokenStore(change: (sound: EventStore) => Partial<EventStore>): EventStore {
  const sound = new MemoryEventStore();
  return withMembers<EventStore>(sound, change(sound));
}

export function brokenIndex(change: (sound: ActivationIndex) => Partial<ActivationIndex>): ActivationIndex {
  const sound = new MemoryActivations();
  return withMembers<ActivationIndex>(sound, change(sound));
}

const withoutEpoch = ({ epoch: _epoch, ...event }: NewSessionEvent): NewSessionEvent => event;
const deaf = (): (() => void) => () => undefined;
const never = (): Promise<never> => new Promise(() => undefined);

/** What a store keeps that holds on to what it was given. */
function holdingOn(sound: EventStore): Partial<EventStore> {
  const given = new Map<string, unknown>();
  return {
    append(id, events, options) {
      for (const event of events) given.set(event.id, event.data);
      return sound.append(id, events, options);
    },
    read: async (id, options) =>
      (await sound.read(id, options)).map(
        (event) => ({ ...event, data: given.get(event.id) ?? event.data }) as typeof event,
      ),
  };
}

const brokenAppends: readonly Broken<EventStore>[] = [
  [
    'expects no head',
    'the head was expected elsewhere',
    (sound) => ({ append: (id, events, options) => sound.append(id, events, { ...options, expectedHead: undefined }) }),
  ],
  [
    'knows no keys',
    'stores once under one key, and gives',
    (sound) => ({
      append: (id, events, options) => sound.append(id, events, { ...options, idempotencyKey: undefined }),
    }),
  ],
  [
    'never admits a repetition',
    'stores an event once',
    (sound) => ({ append: async (...request) => ({ ...(await sound.append(...request)), isDuplicate: false }) }),
  ],
  [
    'claims to be safer than it is',
    'says how durable it is',
    (sound) => ({ append: async (...request) => ({ ...(await sound.append(...request)), durability: 'disk' }) }),
  ],
  [
    'fences nobody off',
    'a wake that was superseded',
    (sound) => ({
      append: (id, [first, ...rest], options) =>
        sound.append(id, [withoutEpoch(first), ...rest.map(withoutEpoch)], options),
    }),
  ],
  [
    'mixes epochs',
    'of two epochs',
    (sound) => ({
      append: (id, [first, ...rest], options) =>
        sound.append(id, [first, ...rest.map((event) => ({ ...event, epoch: first.epoch }))], options),
    }),
  ],
  ['holds on to what it was given', 'the caller can still change', holdingOn],
  [
    'makes no hints',
    'has made them when it resolves',
    (sound) => ({ append: (id, events, options) => sound.append(id, events, { ...options, activate: [] }) }),
  ],
  [
    'settles nothing',
    'has made them when it resolves',
    (sound) => ({ append: (id, events, options) => sound.append(id, events, { ...options, settle: [] }) }),
  ],
  [
    'settles before it stores',
    'removes none when the append is refused',
    (sound) => ({
      async append(id, events, options) {
        await sound.activations.remove(options?.settle ?? []);
        return sound.append(id, events, options);
      },
    }),
  ],
  [
    'refuses in words of its own',
    'the head was expected elsewhere',
    (sound) => ({
      append: (...request) =>
        sound.append(...request).catch(() => {
          throw new Error('no');
        }),
    }),
  ],
];

const brokenReads: readonly Broken<EventStore>[] = [
  ['finds nothing by key', 'stores once under one key, and gives', () => ({ findByKey: async () => undefined })],
  ['finds nothing by id', 'stores an event once', () => ({ findById: async () => undefined })],
  [
    'reads from the start, always',
    'begins at any number',
    (sound) => ({ read: (id, options) => sound.read(id, { ...options, from: 1 }) }),
  ],
  [
    'takes no limit',
    'begins at any number',
    (sound) => ({ read: (id, options) => sound.read(id, { ...options, limit: undefined }) }),
  ],
  [
    'gives everything at once',
    'the most of one page',
    (sound) => ({ read: async (id) => [...(await sound.read(id)), ...(await sound.read(id, { from: 1_001 }))] }),
  ],
  [
    'changes what it stored',
    'returns exactly what a reader gets',
    (sound) => ({
      read: async (id, options) => (await sound.read(id, options)).map((event) => ({ ...event, at: 'later' })),
    }),
  ],
  [
    'reads what nobody made',
    'when it is to be read',
    (sound) => ({ read: (id, options) => sound.read(id, options).catch(() => []) }),
  ],
  [
    'keeps a state that can be changed',
    'cannot be changed by its reader',
    (sound) => ({ checkpoint: async (id) => structuredClone(await sound.checkpoint(id)) }),
  ],
  ['keeps no state', 'is there to fold on from', () => ({ saveView: async () => undefined })],
  ['tells nobody', 'tells when something was appended', () => ({ watch: deaf })],
  [
    'tells for ever',
    'tells when something was appended',
    (sound) => ({
      watch(id, onChange) {
        sound.watch(id, onChange);
        return () => undefined;
      },
    }),
  ],
];

const brokenSessions: readonly Broken<EventStore>[] = [
  [
    'makes a session twice',
    'is refused when the session is there',
    (sound) => ({
      create: (identity, events) =>
        sound.create(identity, events).catch(() => sound.append(identity.sessionId, events)),
    }),
  ],
  [
    'makes a session before it checks all events',
    'makes nothing when one of its events is none',
    (sound) => ({
      async create(identity, [first, ...rest]) {
        const result = await sound.create(identity, [first]);
        for (const event of rest) await sound.append(identity.sessionId, [event]);
        return result;
      },
    }),
  ],
  [
    'lists the newest first',
    'oldest first',
    (sound) => ({ list: async (filter) => (await sound.list(filter)).toReversed() }),
  ],
  ['lists those of everybody', 'those of one agent', (sound) => ({ list: () => sound.list() })],
  [
    'lists views that are not true any more',
    'until the log goes on',
    (sound) => ({
      list: async (filter) =>
        Promise.all(
          (await sound.list(filter)).map(async (listing) => ({
            ...listing,
            view: await sound.checkpoint(listing.sessionId),
          })),
        ),
    }),
  ],
  ['deletes nothing', 'leaves nothing of it', (sound) => ({ delete: async (id) => void (await sound.head(id)) })],
  [
    'deletes what runs',
    'holds the right to wake it',
    (sound) => ({ delete: (id, claim) => sound.delete(id, claim).catch(() => undefined) }),
  ],
  ['cannot be closed', 'once it is closed', () => ({ close: async () => undefined })],
];

export const brokenStores: readonly Broken<EventStore>[] = [...brokenAppends, ...brokenReads, ...brokenSessions];

const given =
  (change: (right: WakeRight) => Partial<WakeRight>) =>
  (sound: EventStore): Partial<EventStore> => ({
    async acquireWakeRight(id, claim) {
      const right = await sound.acquireWakeRight(id, claim);
      return withMembers(right, change(right));
    },
  });

export const brokenWakeRights: readonly Broken<EventStore>[] = [
  [
    'gives the right to everybody',
    'one at a time',
    () => ({
      acquireWakeRight: async (_id, { epoch }) => ({
        epoch: epoch + 1,
        lost: new AbortController().signal,
        release: async () => undefined,
      }),
    }),
  ],
  ['repeats an epoch', 'under the epoch after that of the log', given(({ epoch }) => ({ epoch: epoch - 1 }))],
  ['cannot be let go', 'given to the next when it was released', given(() => ({ release: async () => undefined }))],
  [
    'does not tell that it is lost',
    'that the log has gone past',
    given(() => ({ lost: new AbortController().signal })),
  ],
  ['says for no reason that it is lost', 'one at a time', given(() => ({ lost: AbortSignal.abort() }))],
  [
    'waits for those whose wake has ended',
    'does not wait for the release',
    (sound) => ({ acquireWakeRight: (id, { epoch }) => sound.acquireWakeRight(id, { epoch, isOpen: true }) }),
  ],
  [
    'takes open wakes for ended ones',
    'stays with a holder',
    (sound) => ({ acquireWakeRight: (id, { epoch }) => sound.acquireWakeRight(id, { epoch, isOpen: false }) }),
  ],
  [
    'says too early that it is free',
    'tells when it has been released',
    () => ({ wakeRightFreed: async () => undefined }),
  ],
  ['never says that it is free', 'at once when it is free', () => ({ wakeRightFreed: never })],
  [
    'does not let anybody stop waiting',
    'who do not want to wait any more',
    (sound) => ({ wakeRightFreed: (id) => sound.wakeRightFreed(id, new AbortController().signal) }),
  ],
  ['never says that it is held', 'says whether a process holds it', () => ({ isWakeRightHeld: async () => false })],
  ['always says that it is held', 'says whether a process holds it', () => ({ isWakeRightHeld: async () => true })],
  ['gives what is not there', 'cannot be had', () => ({ wakeRightFreed: async () => undefined })],
];

export const brokenIndexes: readonly Broken<ActivationIndex>[] = [
  [
    'makes good hints beside a bad one',
    'refuses a hint whose cause is a path',
    (sound) => ({
      add: async (hints) => hints.reduce((before, hint) => before.then(() => sound.add([hint])), Promise.resolve()),
    }),
  ],
  ['removes nothing', 'removes what it is told', () => ({ remove: async () => undefined })],
  ['is early', 'and not before', (sound) => ({ due: (query) => sound.due({ ...query, nowMs: query.nowMs + 1 }) })],
  [
    'knows no order',
    'in the order of priority',
    (sound) => ({
      due: async (query) => ({ ...(await sound.due(query)), due: (await sound.due(query)).due.toReversed() }),
    }),
  ],
  [
    'takes no limit',
    'in the order of priority',
    (sound) => ({ due: (query) => sound.due({ ...query, limit: 1_000 }) }),
  ],
  [
    'leaves nobody out',
    'leaves out sessions',
    (sound) => ({ due: (query) => sound.due({ ...query, except: undefined }) }),
  ],
  ['knows no agents', 'and other agents', (sound) => ({ due: (query) => sound.due({ ...query, agentId: undefined }) })],
  [
    'does not say when to ask again',
    'says when to ask again',
    (sound) => ({ due: async (query) => ({ ...(await sound.due(query)), nextDueAtMs: undefined }) }),
  ],
  [
    'says to ask again at once',
    'says when to ask again',
    (sound) => ({ due: async (query) => ({ ...(await sound.due(query)), nextDueAtMs: query.nowMs }) }),
  ],
  ['tells nobody', 'made here', () => ({ watch: deaf })],
  ['forgets what it is made from', 'is made again', () => ({ rebuilt: async () => undefined })],
  ['never trusts itself', 'can be trusted then', () => ({ isSuspect: async () => true })],
];
