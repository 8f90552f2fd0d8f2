/** What is different between two contexts, by path. Bounded: the payload has all of it. */

export interface ContextChange {
  /** `input.command`; empty for the whole. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly before?: unknown;
  readonly after?: unknown;
}

const MAX_CHANGES = 100;
const MAX_DEPTH = 6;

export function contextChanges(before: unknown, after: unknown): readonly ContextChange[] {
  const changes: ContextChange[] = [];
  compare(before, after, '', changes, 0);
  return changes;
}

function compare(before: unknown, after: unknown, path: string, changes: ContextChange[], depth: number): void {
  if (changes.length >= MAX_CHANGES || isSame(before, after)) return;
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after) || depth >= MAX_DEPTH) {
    changes.push({
      path,
      kind: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
      before,
      after,
    });
    return;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const within = path === '' ? key : `${path}.${key}`;
    compare(own(before, key), own(after, key), within, changes, depth + 1);
  }
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function own(branch: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(branch, key) ? branch[key] : undefined;
}

/** JSON is small here: it was bounded before it was recorded. */
function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  return isBranch(one) && isBranch(other) && JSON.stringify(one) === JSON.stringify(other);
}
