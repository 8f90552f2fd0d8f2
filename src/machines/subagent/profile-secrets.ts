/**
 * A provider profile is kept with its job, so it may name the variable that holds a key and nothing that looks like
 * one.
 */
import { RuntimeError } from '../errors.ts';
import { providerOf } from './worker-provider.ts';

/** Names of settings whose values are secrets. Not those that count tokens. */
const SECRET_NAME =
  /pass(?:word|wd|phrase)|secret|credential|authorization|bearer|cookie|(?:api|access|private|signing)[-_]?key|(?:^|[-_a-z])token$/i;

/** Values that are secrets wherever they stand: a way to log in, well-known keys, an address with a password in it. */
const SECRET_VALUE =
  /^(?:bearer|basic)\s+\S|\bsk-[\w-]{8}|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza)\w|\beyJ[\w-]{10,}\.|-----BEGIN |:\/\/[^/\s@]+@/i;

/** Nested more deeply, it is not read. */
const MAX_DEPTH = 20;

/** @throws RuntimeError PROVIDER_PROFILE_INVALID naming the place of what is wrong, never its value */
export function requireNoSecrets(profile: unknown): void {
  providerOf(profile);
  const place = secretIn(profile, [], 0);
  if (place === undefined) return;
  throw new RuntimeError(
    'PROVIDER_PROFILE_INVALID',
    `provider profile is not valid: ${place.join('.') || 'its name'}: expected no secret, received what is named or looks like one`,
    {
      category: 'validation',
      hint: 'Put it into a variable that `apiKeyEnv` names, or into an account: wakechart auth add --help',
    },
  );
}

/** The way to the first of them; undefined when there is none. */
function secretIn(value: unknown, place: readonly string[], depth: number): readonly string[] | undefined {
  if (typeof value === 'string') return SECRET_VALUE.test(value) ? place : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return place;
  for (const [name, inner] of Object.entries(value)) {
    // The name itself is shown, so it must not be the secret.
    if (SECRET_VALUE.test(name)) return [...place, '(a name)'];
    const isSecret = name !== 'apiKeyEnv' && SECRET_NAME.test(name) && isFilled(inner);
    const found = isSecret
      ? [...place, name.slice(0, 100)]
      : secretIn(inner, [...place, name.slice(0, 100)], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isFilled(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || (typeof value === 'object' && value !== null);
}
