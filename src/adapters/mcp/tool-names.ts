/**
 * The names under which models see the tools of a server: `<server>__<tool>`, made of letters, digits, `_` and `-`, 64
 * at most.
 *
 * A name that fits stays as it is. What had to be changed and meets another, what is too long, and what could be read
 * as a tool of another server ends in a hash of both names instead: the same in every wake, whatever else the server
 * offers.
 */
import { createHash } from 'node:crypto';
import { beginningOf } from '../../machines/cut-text.ts';

const MAX_CHARACTERS = 64;
const HASH_CHARACTERS = 8;
const SEPARATOR = '__';

/** The models' names of the tools, by the server's; `tools` without duplicates. */
export function modelNamesOf(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const wishes = tools.map((tool) => ({
    tool,
    wish: wishFor(server, tool),
    isExact: isPlain(server) && isPlain(tool),
  }));
  const counts = new Map<string, number>();
  for (const { wish } of wishes) counts.set(wish, (counts.get(wish) ?? 0) + 1);
  const needsHash = ({ wish, isExact }: (typeof wishes)[number]): boolean =>
    wish.length > MAX_CHARACTERS || isAmbiguous(server) || (!isExact && (counts.get(wish) ?? 0) > 1);
  return new Map(
    wishes.map((entry) => [
      entry.tool,
      needsHash(entry) ? withHash(entry.wish, `${server}\0${entry.tool}`) : entry.wish,
    ]),
  );
}

function wishFor(server: string, tool: string): string {
  const name = `${plain(server)}${SEPARATOR}${plain(tool)}`;
  // Some providers want a letter first.
  return /^[A-Za-z]/.test(name) ? name : `m${name}`;
}

function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
}

function isPlain(name: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(name);
}

/** `a` with `b__c` and `a__b` with `c` would be one; so would two servers whose names had to be changed. */
function isAmbiguous(server: string): boolean {
  return server.includes(SEPARATOR) || server.endsWith('_') || !/^[A-Za-z][A-Za-z0-9_-]*$/.test(server);
}

function withHash(wish: string, of: string): string {
  const hash = createHash('sha256').update(of).digest('hex').slice(0, HASH_CHARACTERS);
  return `${beginningOf(wish, MAX_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`;
}
