/**
 * The accounts and the experience of a home, without anything that could run an agent: for commands that add, change
 * and check.
 */
import { join } from 'node:path';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import type { AuthProfiles } from '../../actors/run/auth-profiles.ts';
import type { CandidateHealthStore } from '../../actors/run/candidate-health-store.ts';
import { closestName } from '../../machines/closest-name.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { AUTH_FOLDER, createFileAuthProfiles } from '../../adapters/auth-files/file-auth-profiles.ts';
import { createFileCandidateHealthStore } from '../../adapters/auth-files/file-candidate-health-store.ts';
import { createKeychainCommand } from '../../adapters/auth-files/keychain-command.ts';
import { underLock } from '../../adapters/system/process-lock.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { checkHome } from '../home.ts';
import { openStore } from '../open/store.ts';
import { oneLine, printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';

/** More names than these do not help. */
const MAX_SHOWN = 10;

export interface HomeAccounts {
  readonly profiles: AuthProfiles;
  readonly candidateHealth: CandidateHealthStore;
}

/** Lets `work` use them. An error about an account that is not there says which ones are. */
export async function withAuth<Result>(
  context: CommandContext,
  work: (accounts: HomeAccounts) => Promise<Result>,
): Promise<Result> {
  await checkHome(context.home);
  const directory = join(context.home, AUTH_FOLDER);
  const clock = createSystemClock();
  const environment = process.env;
  const { err } = context;
  const onWarning = ({ message }: RuntimeError): void =>
    void err.push(`${err.styles.yellow('note:')} ${printable(message)}\n`);
  // The accounts are in the home. How they do is known to all machines alike, where the sessions are.
  const { store, candidateHealth } = await openStore(context);
  const accounts: HomeAccounts = {
    profiles: createFileAuthProfiles({
      directory,
      clock,
      environment,
      exclusively: underLock,
      runCommand: createKeychainCommand({ clock, environment }),
    }),
    candidateHealth:
      candidateHealth ?? createFileCandidateHealthStore({ directory, clock, exclusively: underLock, onWarning }),
  };
  try {
    return await work(accounts);
  } catch (error) {
    throw await inOurWords(error, context, accounts);
  } finally {
    await store.close();
  }
}

export function accountNotFound(name: string): RuntimeError {
  return new RuntimeError('AUTH_PROFILE_NOT_FOUND', `there is no auth profile ${JSON.stringify(oneLine(name, 64))}`, {
    category: 'not_found',
    details: { profileId: name },
  });
}

async function inOurWords(error: unknown, context: CommandContext, { profiles }: HomeAccounts): Promise<unknown> {
  if (!RuntimeError.is(error)) return error;
  const { code, message, category, details, hint } = error;
  if (code === 'AUTH_PROFILE_INVALID') return usageError(message, hint ?? 'See: wakechart auth add --help');
  if (code === 'AUTH_PROFILE_EXISTS') {
    const name = typeof details?.['profileId'] === 'string' ? details['profileId'] : 'NAME';
    return new RuntimeError(code, message, {
      category,
      details,
      hint: `Give this one another name, or remove that one first:\n${nextCommand(context, 'auth', 'remove', name)}`,
      cause: error,
    });
  }
  if (code !== 'AUTH_PROFILE_NOT_FOUND') return error;
  return new RuntimeError(code, message, {
    category,
    details,
    hint: await whatThereIs(details?.['profileId'], context, profiles),
    cause: error,
  });
}

async function whatThereIs(given: unknown, context: CommandContext, profiles: AuthProfiles): Promise<string> {
  const names = await profiles.list().then(
    (all) => all.map(({ id }) => id),
    () => [],
  );
  if (names.length === 0)
    return `There are no accounts in ${context.home} yet. Add one: ${nextCommand(context, 'auth', 'add', '--help')}`;
  const meant = closestName(typeof given === 'string' ? given : '', names);
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : '';
  return `${meant === undefined ? '' : `Did you mean "${meant}"? `}Accounts in ${context.home}: ${names.slice(0, MAX_SHOWN).join(', ')}${more}.`;
}
