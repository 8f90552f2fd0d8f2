/** One text for each state that a machine can be in: its value, its context and what its history states remember. */

/** Deeper than this a context is taken for the same. */
const MAX_DEPTH = 24;

interface KeyedSnapshot {
  readonly status: string;
  readonly value: unknown;
  readonly context: unknown;
  readonly historyValue?: Readonly<Record<string, readonly { readonly id: string }[]>> | undefined;
}

/**
 * Two snapshots with the same key answer every event in the same way, as far as data can tell: functions and actors
 * count by their names.
 */
export function snapshotKey({ status, value, context, historyValue = {} }: KeyedSnapshot): string {
  const remembered = Object.entries(historyValue).map(([state, nodes]) => [state, nodes.map(({ id }) => id)]);
  return keyOf([status, value, context, Object.fromEntries(remembered)], []);
}

/** As JSON, the keys of objects sorted, with something for everything that JSON has no word for. */
function keyOf(value: unknown, above: readonly object[]): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `ƒ(${value.name})`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const depth = above.indexOf(value);
  if (depth !== -1) return `^${above.length - depth}`;
  if (above.length >= MAX_DEPTH) return '…';
  return objectKey(value, [...above, value]);
}

function objectKey(value: object, above: readonly object[]): string {
  const each = (part: unknown): string => keyOf(part, above);
  if (Array.isArray(value)) return `[${value.map(each).join(',')}]`;
  if (value instanceof Date) return `date(${value.getTime()})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return `error(${each(value.name)},${each(value.message)})`;
  if (value instanceof Set) return `set(${[...value].map(each).toSorted().join(',')})`;
  if (value instanceof Map)
    return `map(${[...value]
      .map(([key, item]) => `${each(key)}:${each(item)}`)
      .toSorted()
      .join(',')})`;
  const { xstate$$type: isActor, id } = value as { readonly xstate$$type?: unknown; readonly id?: unknown };
  // An actor leads to its whole system, and its number in that differs from run to run.
  if (isActor !== undefined || 'getSnapshot' in value)
    return `actor(${typeof id === 'string' && !id.startsWith('x:') ? id : ''})`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members
    .map(([key, member]) => `${JSON.stringify(key)}:${each(member)}`)
    .toSorted()
    .join(',')}}`;
}
