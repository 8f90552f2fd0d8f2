/** Snapshots are values: a receiver cannot change what it is handed. */

/** `value` with everything below it frozen. Parts that are frozen already are taken to be frozen all the way down. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) frozen(part);
  return value;
}
