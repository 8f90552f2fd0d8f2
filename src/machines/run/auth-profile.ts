/** An account with a provider, as data: it says where its secret is, never what it is. */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Where the secret is: in a variable of our environment, or what a command of a keychain prints, without the newline at
 * its end.
 */
const secretReference = z.union([
  z.strictObject({ env: z.string().regex(VARIABLE, 'expected the name of a variable') }),
  z.strictObject({ command: z.array(z.string().min(1)).min(1).max(50) }),
]);

export const authProfile = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'expected lower-case letters, digits, ".", "_" and "-", 64 at most'),
  provider: z.string().min(1).max(64),
  /** Absent for programs that have their own login. */
  secret: secretReference.optional(),
  /** For programs: what tells them which account it is, such as their folder of settings. No secrets. */
  environment: z.record(z.string().regex(VARIABLE), z.string()).optional(),
});

export type AuthProfile = Readonly<z.output<typeof authProfile>>;

// The errors about auth profiles that every place they are kept in shares.

export function profileExists(profileId: string): RuntimeError {
  return new RuntimeError('AUTH_PROFILE_EXISTS', `there is an auth profile "${profileId}" already`, {
    category: 'conflict',
    hint: 'Remove it first, or give this one another name.',
    details: { profileId },
  });
}

export function profileNotFound(profileId: string, known: readonly string[]): RuntimeError {
  return new RuntimeError('AUTH_PROFILE_NOT_FOUND', `there is no auth profile "${profileId}"`, {
    category: 'not_found',
    hint:
      known.length === 0
        ? 'None is kept yet; add one: wakechart auth add --help'
        : `There is: ${known.slice(0, 20).join(', ')}.`,
    details: { profileId },
  });
}

export function tooManyProfiles(maxProfiles: number): RuntimeError {
  return new RuntimeError(
    'AUTH_PROFILES_FULL',
    `there are ${maxProfiles} auth profiles already, and no more are kept`,
    {
      category: 'capacity',
      hint: 'Remove some that are not needed.',
      details: { maxProfiles },
    },
  );
}
