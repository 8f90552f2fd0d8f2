/** The errors about auth profiles that every place they are kept in shares. */
import { RuntimeError } from '../errors.ts';

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
