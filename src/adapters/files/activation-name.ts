/**
 * A hint as the name of an empty file:
 *
 *   <home>/activations/2026-11-22T0140/001763775600000.n1.<sessionId>.<agentId>.<causeId>
 *                      │               │               ││
 *                      │               │               │└ kind: 0 ingress, 1 wake, 2 retry
 *                      │               │               └ priority: h, n or l
 *                      │               └ when it is due, in milliseconds since the epoch
 *                      └ the ten minutes in which that lies, in UTC
 *
 * Names and folders sort by time. A letter of a cause that is not in lower case is marked, since some file systems tell
 * none from the other. Whatever else lies there is passed over.
 */
import { isUuidV7 } from '../../machines/ids.ts';
import type { Activation, ActivationKind } from '../../machines/session/activation.ts';
import { MAX_DUE_AT_MS } from '../../machines/session/activation.ts';

/** Short, so that few sleeping sessions share a folder; long, so that a day has few of them. */
const BUCKET_MS = 10 * 60_000;

const DUE_DIGITS = 15;
const BUCKET = /^(\d{4}-\d{2}-\d{2}T\d{2})(\d0)$/;
const NAME = /^(\d{15})\.([hnl])([012])\.([0-9a-f-]{36})\.([a-z0-9][a-z0-9_-]{0,63})\.([a-z0-9_.~-]{1,200})$/;

const KINDS: readonly ActivationKind[] = ['ingress', 'wake', 'retry'];
const PRIORITIES = { h: 'high', n: 'normal', l: 'low' } as const;

/** The folder that holds what is due at `atMs`. */
export function bucketOf(atMs: number): string {
  const iso = new Date(atMs - (atMs % BUCKET_MS)).toISOString();
  return `${iso.slice(0, 13)}${iso.slice(14, 16)}`;
}

export function isBucket(name: string): boolean {
  return BUCKET.test(name);
}

/** When the first thing in a folder may be due, in milliseconds since the epoch. */
export function startOfBucket(bucket: string): number {
  return Date.parse(bucket.replace(BUCKET, '$1:$2:00.000Z'));
}

export function nameOf({ dueAtMs, priority, kind, sessionId, agentId, causeId }: Activation): string {
  const due = String(dueAtMs).padStart(DUE_DIGITS, '0');
  return `${due}.${priority.charAt(0)}${KINDS.indexOf(kind)}.${sessionId}.${agentId}.${causeId.replaceAll(/[A-Z]/g, (letter) => `~${letter.toLowerCase()}`)}`;
}

/** Undefined for what is no hint, or lies in another's folder: it could not be removed by what it says. */
export function readName(name: string, bucket: string): Activation | undefined {
  const [, due = '', priority = '', kind = '', sessionId = '', agentId = '', cause = ''] = NAME.exec(name) ?? [];
  const dueAtMs = Number(due);
  if (due === '' || dueAtMs > MAX_DUE_AT_MS || bucketOf(dueAtMs) !== bucket || !isUuidV7(sessionId)) return undefined;
  const causeId = cause.replaceAll(/~([a-z])/g, (_mark, letter: string) => letter.toUpperCase());
  const activation = {
    sessionId,
    agentId,
    causeId,
    kind: KINDS[Number(kind)] ?? 'retry',
    dueAtMs,
    priority: PRIORITIES[priority as keyof typeof PRIORITIES],
  };
  // There is one way to write each hint: any other could not be found again to be removed.
  return nameOf(activation) === name ? activation : undefined;
}
