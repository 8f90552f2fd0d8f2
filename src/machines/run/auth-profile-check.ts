/**
 * Checks what a user wants to keep as an auth profile: it must be well-formed, and it must not hold a secret. No
 * complaint repeats what was given.
 */
import { RuntimeError } from '../errors.ts';
import { parseOrThrow } from '../validate.ts';
import { authProfile } from './auth-profile.ts';
import type { AuthProfile } from './auth-profile.ts';
import { withoutKeys } from './failure-message.ts';

/** Names of variables are words; a long run of letters of both cases with digits among them is none. */
const SHORTEST_RANDOM = 20;
const RANDOM = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w~+-]+$/;
/** In a line for a shell, in an assignment, in a path. */
const BETWEEN_WORDS = /[\s"'`=:;,./]+/;
const HEX = /^(?=.*\d)(?=.*[a-f])[0-9a-f]{32,}$/i;

const HINT =
  'Put the key into a variable of the environment, or into a keychain, and name that: --env VARIABLE, or --command -- PROGRAM ARGUMENT...';

/** @throws RuntimeError AUTH_PROFILE_INVALID */
export function checkedAuthProfile(value: AuthProfile): AuthProfile {
  refuseSecrets(value);
  return parseOrThrow(authProfile, value, {
    what: 'auth profile',
    code: 'AUTH_PROFILE_INVALID',
    hint: 'See: wakechart auth add --help',
  });
}

/** Whether it is, or has in it, what is more likely a key than the name of something. */
export function looksLikeKey(text: string): boolean {
  return (
    withoutKeys(text) !== text ||
    text.split(BETWEEN_WORDS).some((word) => HEX.test(word) || (word.length >= SHORTEST_RANDOM && RANDOM.test(word)))
  );
}

/** What was given may be anything: a user who is wrong about the form may be wrong about the key too. */
function refuseSecrets(value: Partial<Record<keyof AuthProfile, unknown>>): void {
  const { id, provider, secret, environment } = value;
  refuse('the name', [id]);
  refuse('the provider', [provider]);
  if (isRecord(secret)) {
    refuse('the name of a variable', [secret['env']]);
    refuse('the command', Array.isArray(secret['command']) ? secret['command'] : []);
  }
  if (isRecord(environment))
    for (const [name, set] of Object.entries(environment))
      refuse(`the value of ${looksLikeKey(name) ? 'a variable' : name}`, [name, set]);
}

function refuse(what: string, values: readonly unknown[]): void {
  if (!values.some((value) => typeof value === 'string' && looksLikeKey(value))) return;
  throw new RuntimeError(
    'AUTH_PROFILE_INVALID',
    `${what} looks like a key itself; keys are never kept, only where they are`,
    { category: 'validation', hint: HINT },
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
