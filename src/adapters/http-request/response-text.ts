/** What a server answered, as text without secrets. */
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { SessionSecrets } from '../../actors/environment/session-secrets.ts';
import { beginningOf } from '../../machines/cut-text.ts';

const TEXT =
  /^(?:text\/|application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|javascript|graphql|x-www-form-urlencoded|x-ndjson|toml|sql)|image\/svg\+xml|message\/|multipart\/)/i;

/** Bytes that are looked through at a stretch: whatever else runs in this process has its turn in between. */
const PIECE_BYTES = 65_536;

/** Characters of all values of one header. */
const MAX_HEADER_CHARACTERS = 8_000;

export interface Body {
  readonly bytes: Uint8Array;
  readonly isTruncated: boolean;
  readonly contentType: string | undefined;
}

/** Undefined for what is no text. */
export async function bodyText(
  { bytes, isTruncated, contentType }: Body,
  secrets: SessionSecrets | undefined,
): Promise<string | undefined> {
  const text = decoded(bytes, contentType, isTruncated);
  if (text === undefined) return undefined;
  const redaction = secrets?.bytes();
  if (redaction === undefined) return text;
  const all = new TextEncoder().encode(text);
  const told: Uint8Array[] = [];
  for (let from = 0; from < all.length; from += PIECE_BYTES) {
    told.push(redaction.add(all.subarray(from, from + PIECE_BYTES)));
    await setImmediate();
  }
  // What is kept back at a cut is the beginning of a secret whose rest was cut off.
  if (!isTruncated) told.push(redaction.end());
  return new TextDecoder().decode(Buffer.concat(told));
}

/** By their names; what came more than once stands in one line. */
export function headerTexts(headers: IncomingHttpHeaders, secrets: SessionSecrets | undefined): Record<string, string> {
  const texts = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  );
  const redacted = texts.map(
    ([name, value]) =>
      [secrets?.text(name) ?? name, beginningOf(secrets?.text(value) ?? value, MAX_HEADER_CHARACTERS)] as const,
  );
  return Object.fromEntries(redacted);
}

function decoded(bytes: Uint8Array, contentType: string | undefined, isTruncated: boolean): string | undefined {
  const charset = /;\s*charset\s*=\s*"?(?<name>[\w.:-]{1,40})/i.exec(contentType ?? '')?.groups?.['name'];
  const isSaidToBeText = contentType !== undefined && TEXT.test(contentType.trim());
  try {
    // A cut may go through a character.
    return new TextDecoder(charset ?? 'utf-8', { fatal: !isSaidToBeText }).decode(bytes, { stream: isTruncated });
  } catch {
    return isSaidToBeText ? new TextDecoder().decode(bytes) : undefined;
  }
}
