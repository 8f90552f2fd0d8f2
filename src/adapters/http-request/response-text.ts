/** What a server answered, as text without secrets. */
import type { IncomingHttpHeaders } from 'node:http';
import type { SessionSecrets } from '../../actors/environment/session-secrets.ts';

const TEXT = /^(?:text\/|application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|javascript|graphql|x-www-form-urlencoded|x-ndjson|toml|sql)|image\/svg\+xml|message\/|multipart\/)/i;

/** Characters of all values of one header. */
const MAX_HEADER_CHARACTERS = 8_000;

export interface Body {
  readonly bytes: Uint8Array;
  readonly isTruncated: boolean;
  readonly contentType: string | undefined;
}

/** Undefined for what is no text. */
export function bodyText({ bytes, isTruncated, contentType }: Body, secrets: SessionSecrets | undefined): string | undefined {
  const text = decoded(bytes, contentType, isTruncated);
  if (text === undefined) return undefined;
  const redaction = secrets?.bytes();
  if (redaction === undefined) return text;
  const told = redaction.add(new TextEncoder().encode(text));
  // What is kept back at a cut is the beginning of a secret whose rest was cut off.
  const rest = isTruncated ? new Uint8Array(0) : redaction.end();
  return new TextDecoder().decode(Buffer.concat([told, rest]));
}

/** By their names; what came more than once stands in one line. */
export function headerTexts(headers: IncomingHttpHeaders, secrets: SessionSecrets | undefined): Record<string, string> {
  const texts = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const]));
  const redacted = texts.map(([name, value]) => [secrets?.text(name) ?? name, (secrets?.text(value) ?? value).slice(0, MAX_HEADER_CHARACTERS)] as const);
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
