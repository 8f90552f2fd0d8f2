/** What records say of states and failures, read from snapshots of any kind of actor. */
import { ACTOR_STATUSES } from '../../machines/inspection-log/actor-statuses.ts';
import { MAX_MESSAGE_CHARACTERS, MAX_VALUE_DEPTH } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectedStatus, InspectedValue } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectedText } from './inspected-text.ts';

/** A snapshot, as far as records are concerned. The author of the logic may have put anything there. */
export interface SnapshotLike {
  readonly status?: unknown;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
}

/** States of one value. */
const MAX_VALUE_STATES = 5_000;

export interface Failure {
  readonly message: string;
  readonly code?: string;
}

export function statusOf(snapshot: SnapshotLike | undefined): InspectedStatus {
  const status = snapshot?.status;
  return status === 'active' ? status : (ACTOR_STATUSES.find((each) => each === status) ?? 'active');
}

export class RecordedValues {
  readonly #text: InspectedText;
  /** Of the values of compiled lifecycles, each of which is one object for ever. */
  readonly #nested = new WeakMap<object, InspectedValue>();

  constructor(text: InspectedText) {
    this.#text = text;
  }

  /** @param isKept the same object comes again and again @returns an empty text for what is no state */
  value(value: unknown, isKept: boolean): InspectedValue {
    if (typeof value === 'string') return this.#text.name(value);
    if (typeof value !== 'object' || value === null) return '';
    const known = this.#nested.get(value);
    if (known !== undefined) return known;
    const copy = this.#copy(value, 0, { count: 0 });
    if (isKept) this.#nested.set(value, copy);
    return copy;
  }

  failure(error: unknown): Failure {
    try {
      const message =
        ownText(error, 'message') ??
        (typeof error === 'object' && error !== null ? 'an error without a message' : String(error));
      const code = ownText(error, 'code');
      return {
        message: this.#text.cut(message, MAX_MESSAGE_CHARACTERS),
        ...(code === undefined ? {} : { code: this.#text.name(code) }),
      };
    } catch {
      return { message: 'an error that could not be read' };
    }
  }

  #copy(value: unknown, depth: number, seen: { count: number }): InspectedValue {
    seen.count += 1;
    if (typeof value === 'string') return this.#text.name(value);
    if (typeof value !== 'object' || value === null || depth >= MAX_VALUE_DEPTH - 1 || seen.count > MAX_VALUE_STATES)
      return '';
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [this.#text.name(key), this.#copy(inner, depth + 1, seen)]),
    );
  }
}

/** Without calling a getter. */
function ownText(holder: unknown, key: string): string | undefined {
  if (typeof holder !== 'object' || holder === null) return undefined;
  const value: unknown = Object.getOwnPropertyDescriptor(holder, key)?.value;
  return typeof value === 'string' ? value : undefined;
}
