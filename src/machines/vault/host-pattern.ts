/**
 * The hosts that a secret may be sent to: `api.github.com`, `*.example.com` for those below it, `localhost:8080` where
 * the port is not the usual one.
 */
import * as z from 'zod';

const LABEL = '[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?';
const HOST = new RegExp(
  `^(?:\\*\\.${LABEL}(?:\\.${LABEL})+|${LABEL}(?:\\.${LABEL})*|\\[[0-9a-f:.]+\\])(?::[0-9]{1,5})?$`,
);

/** In lower case. A star stands for one label or more, and only before two of them at least. */
export const hostPattern = z
  .string()
  .max(260)
  // The port that https has anyway is not part of the host of a URL.
  .transform((text) => text.toLowerCase().replace(/:443$/, ''))
  .refine(
    (text) => HOST.test(text) && isHost(text.replace(/^\*\./, 'any.')),
    'expected a host such as api.github.com, *.example.com or localhost:8080, without a scheme and a path',
  );

/** @param host as `URL.host` has it: in lower case, with the port where it is not the usual one of the scheme */
export function matchesHost(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return host === pattern;
  return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
}

/** Written as it will be compared. */
function isHost(text: string): boolean {
  try {
    return new URL(`ws://${text}`).host === text.replace(/:80$/, '');
  } catch {
    return false;
  }
}
