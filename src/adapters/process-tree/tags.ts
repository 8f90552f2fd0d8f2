/**
 * The environment variable by which members of a tree are recognized, whatever else they shed. It holds one tag per
 * tree around the process, outermost first: a host that runs inside a task adds its own, so the outer task still finds
 * everything below.
 */

export const TAG_VARIABLE = 'WAKECHART_TASK';
const SEPARATOR = ':';

/** The variable's value for a tree that starts in a process whose own value is `around`. */
export function nestedTag(around: string | undefined, tag: string): string {
  return around === undefined || around === '' ? tag : `${around}${SEPARATOR}${tag}`;
}

/** The tags in an environment as the kernel keeps it: `NAME=value` entries, each ended by a NUL. */
export function parseEnvironmentTags(environment: Buffer): readonly string[] {
  const name = `${TAG_VARIABLE}=`;
  const isFirst = environment.subarray(0, name.length).equals(Buffer.from(name));
  const before = isFirst ? -1 : environment.indexOf(`\0${name}`);
  if (!isFirst && before === -1) return [];
  const start = before + 1 + name.length;
  const end = environment.indexOf(0, start);
  return splitTags(environment.toString('utf8', start, end === -1 ? environment.length : end));
}

export function splitTags(value: string): readonly string[] {
  return value.split(SEPARATOR).filter((tag) => tag !== '');
}
