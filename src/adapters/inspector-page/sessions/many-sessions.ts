/**
 * The same done with many sessions: one after the other by the same requests as a single one, so that each has its own
 * record and its own refusal; what cannot be done for one stops no other.
 */
import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { ShownRequest, ShownSummary } from '../../../actors/inspection/shown-answers.ts';
import { reasonOf, server } from '../model/transport.ts';
import { askForSessions } from './known-sessions.ts';
import { nameOf } from './session-words.ts';

/** Browsers have six connections to one server, and some are taken. */
const AT_ONCE = 3;

/** What a request asks for that waits in one of the sessions. */
export interface AskedOne {
  readonly sessionId: string;
  readonly name: string;
  readonly request: ShownRequest;
  /** In which it would run, of a permission. */
  readonly folder?: string | undefined;
}

/** Requests that ask for the same. There is always one. */
export interface AskedGroup {
  readonly key: string;
  readonly request: ShownRequest;
  readonly members: readonly AskedOne[];
}

export interface Asked {
  readonly groups: readonly AskedGroup[];
  /** Sessions whose requests could not be read, and why. */
  readonly unread: readonly { readonly sessionId: string; readonly name: string; readonly because: string }[];
}

export interface ManyReceipt {
  readonly sessionId: string;
  readonly name: string;
  /** What was to be done, as a verb and what it is about. */
  readonly what: string;
  readonly state: 'sending' | 'done' | 'refused';
  readonly text: string;
}

const receipts = signal<readonly ManyReceipt[]>([]);
const isBusy = signal(false);

export const manyReceipts: ReadonlySignal<readonly ManyReceipt[]> = receipts;
export const isManyBusy: ReadonlySignal<boolean> = isBusy;

export function putReceiptsAway(): void {
  if (!isBusy.value) receipts.value = [];
}

/** What waits in these sessions, the same together. */
export async function askedIn(sessions: readonly ShownSummary[]): Promise<Asked> {
  const found: AskedOne[] = [];
  const unread: Asked['unread'][number][] = [];
  await each(
    sessions.filter(({ need }) => need === 'answer'),
    async (summary) => {
      const { sessionId } = summary;
      const name = nameOf(summary);
      try {
        const { pendingActions, workspace } = await server.session(sessionId);
        for (const request of pendingActions)
          found.push({
            sessionId,
            name,
            request,
            ...(request.kind === 'permission' ? { folder: request.cwd ?? workspace } : {}),
          });
      } catch (error) {
        unread.push({ sessionId, name, because: reasonOf(error) });
      }
    },
  );
  return { groups: groupsOf(found), unread };
}

/** Equal is what a person reads of it; in which folder is told of each. */
export function groupsOf(asked: readonly AskedOne[]): readonly AskedGroup[] {
  const groups = new Map<string, AskedOne[]>();
  for (const one of asked) {
    const { kind, toolName, parts, question, because, rules, choices, warnings, isPartial } = one.request;
    const key = JSON.stringify([kind, toolName, parts, question, because, rules, choices, warnings, isPartial]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups].flatMap(([key, members]) => {
    const [first] = members;
    return first === undefined ? [] : [{ key, request: first.request, members }];
  });
}

/** Of these sessions alone: what was asked for before may hold others, that are ticked no more. */
export function groupsIn(
  groups: readonly AskedGroup[],
  sessions: readonly Pick<ShownSummary, 'sessionId'>[],
): readonly AskedGroup[] {
  const ids = new Set(sessions.map(({ sessionId }) => sessionId));
  return groups.flatMap((group) => {
    const members = group.members.filter(({ sessionId }) => ids.has(sessionId));
    return members.length === 0 ? [] : [{ ...group, members }];
  });
}

type Target = Pick<AskedOne, 'sessionId' | 'name'>;

/** @param act resolves with what became of it, as a sentence */
export async function doWithMany<Item extends Target>(
  items: readonly Item[],
  what: string,
  act: (item: Item) => Promise<string>,
): Promise<void> {
  if (isBusy.value) return;
  isBusy.value = true;
  receipts.value = items.map(({ sessionId, name }) => ({ sessionId, name, what, state: 'sending', text: 'is sent' }));
  const tell = (index: number, change: Pick<ManyReceipt, 'state' | 'text'>): void => {
    receipts.value = receipts.value.map((receipt, at) => (at === index ? { ...receipt, ...change } : receipt));
  };
  await each([...items.entries()], async ([index, item]) => {
    try {
      tell(index, { state: 'done', text: await act(item) });
    } catch (error) {
      tell(index, { state: 'refused', text: reasonOf(error) });
    }
  });
  isBusy.value = false;
  await askForSessions();
}

/** A few at once. */
async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
