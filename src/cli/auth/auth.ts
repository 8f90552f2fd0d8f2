/** `wakechart auth …`: the accounts with which runs are paid, and which candidates have fallen out of use. */
import { closestName } from '../../machines/closest-name.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import { checkedAuthProfile } from '../../machines/run/auth-profile-check.ts';
import type { AuthProfile } from '../../machines/run/auth-profile.ts';
import type { CandidateHealth } from '../../machines/run/candidate-health.ts';
import { candidateText } from '../../machines/run/candidate.ts';
import { KNOWN_PROVIDERS } from '../../machines/run/provider-settings.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { makeHome } from '../home.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, durationText, localTime, oneLine, printable, shellQuoted } from '../terminal/text.ts';
import { usageError } from '../usage.ts';
import type { HomeAccounts } from './accounts.ts';
import { accountNotFound, withAuth } from './accounts.ts';

// Accounts and the health of candidates in the words of the command line. No value of a secret comes this far.

function secretText({ secret }: AuthProfile): string {
  if (secret === undefined) return 'none: the program has its own login';
  return 'env' in secret ? `variable ${secret.env}` : `command ${printable(shellQuoted(secret.command))}`;
}

/** Names only. */
function setText({ environment = {} }: AuthProfile): string {
  return Object.keys(environment).join(', ');
}

const STATES = {
  closed: 'ready',
  cooling: 'cooling',
  half_open: 'being tried',
  disabled: 'disabled',
} as const satisfies Record<CandidateHealth['state'], string>;

const HEALTH_HEADINGS = ['CANDIDATE', 'STATE', 'UNTIL', 'FAILURES', 'LAST USED', 'BECAUSE'] as const;

function healthRow(health: CandidateHealth, nowMs: number): readonly string[] {
  const { candidate, state, failures, billingFailures, lastUsedAt, because } = health;
  return [
    candidateText(candidate),
    isDue(health, nowMs) ? 'to be tried' : STATES[state],
    untilText(health, nowMs),
    String(failures + billingFailures),
    lastUsedAt === undefined ? 'never' : localTime(lastUsedAt),
    because === undefined ? '' : oneLine(`${because.kind}: ${because.message}`),
  ];
}

/** How long it still takes, and when that is. */
function untilText({ until }: CandidateHealth, nowMs: number): string {
  if (until === undefined) return '';
  const leftMs = Date.parse(until) - nowMs;
  return leftMs > 0 ? `in ${durationText(leftMs)} (${until})` : `now (since ${until})`;
}

/** Its rest is over, and no wake has tried it since. */
function isDue({ state, until }: CandidateHealth, nowMs: number): boolean {
  return (state === 'cooling' || state === 'disabled') && until !== undefined && Date.parse(until) <= nowMs;
}

export interface AddOptions {
  readonly name: string;
  /** After `--`. */
  readonly words: readonly string[];
  readonly provider: string;
  readonly env?: string;
  readonly command?: boolean;
  /** `NAME=VALUE` each. */
  readonly set?: readonly string[];
}

export async function addProfile(context: CommandContext, options: AddOptions): Promise<number> {
  const { out, json } = context;
  return withAuth(context, async ({ profiles, candidateHealth }) => {
    const profile = checkedAuthProfile(profileOf(options));
    await makeHome(context.home);
    await profiles.add(profile);
    // What was held against another account of this name says nothing about this one.
    await candidateHealth.reset({ profile: profile.id });
    if (json) await out.document(plainProfile(profile));
    else {
      await out.line(
        `${out.styles.green('Added')} account ${out.styles.bold(profile.id)} of ${printable(profile.provider)}: ${secretText(profile)}`,
      );
      await out.line(`Next: ${nextCommand(context, 'auth', 'status', profile.id, '--check')}`);
    }
    await tellDoubts(context, profile);
    return EXIT_SUCCESS;
  });
}

export async function listProfiles(context: CommandContext, provider: string | undefined): Promise<number> {
  const { out, json, home } = context;
  const found = await withAuth({ ...context, store: undefined }, ({ profiles }) => profiles.list(provider));
  if (json) await out.document({ profiles: found.map(plainProfile) });
  else if (found.length === 0)
    await out.line(
      `No accounts${provider === undefined ? '' : ` of ${oneLine(provider)}`} in ${home} yet. Add one: ${nextCommand(context, 'auth', 'add', '--help')}`,
    );
  else {
    const rows = found.map((profile) => [profile.id, profile.provider, setText(profile), secretText(profile)]);
    for (const line of tableLines(['ACCOUNT', 'PROVIDER', 'SETS', 'SECRET'], rows, out)) await out.line(line);
  }
  return EXIT_SUCCESS;
}

export async function removeProfile(context: CommandContext, name: string): Promise<number> {
  const { out, json } = context;
  return withAuth(context, async ({ profiles, candidateHealth }) => {
    if (!(await profiles.remove(name))) throw accountNotFound(name);
    await candidateHealth.reset({ profile: name });
    if (json) await out.document({ id: name, removed: true });
    else await out.line(`${out.styles.green('Removed')} account ${name}. Its secret is still where it was.`);
    return EXIT_SUCCESS;
  });
}

export interface StatusOptions {
  readonly name?: string | undefined;
  readonly check?: boolean;
}

export async function showStatus(context: CommandContext, { name, check = false }: StatusOptions): Promise<number> {
  const { out, json } = context;
  return withAuth(context, async (accounts) => {
    const profiles = await accounts.profiles.list();
    const all = await accounts.candidateHealth.list();
    const chosen = profiles.filter(({ id }) => name === undefined || id === name);
    const candidates = all.filter(({ candidate }) => name === undefined || candidate.profile === name);
    if (name !== undefined && chosen.length === 0 && candidates.length === 0) throw accountNotFound(name);
    const checks = check ? await Promise.all(chosen.map((profile) => checkSecret(context, accounts, profile))) : [];
    if (json) await out.document({ candidates, ...(check ? { checks } : {}) });
    else {
      await tellChecks(context, checks);
      await tellHealth(context, candidates);
    }
    return checks.every(({ resolves }) => resolves) ? EXIT_SUCCESS : EXIT_FAILURE;
  });
}

export interface ResetOptions {
  readonly name?: string | undefined;
  readonly provider?: string;
  readonly all?: boolean;
}

export async function resetHealth(
  context: CommandContext,
  { name, provider, all = false }: ResetOptions,
): Promise<number> {
  const { out, json } = context;
  if (all === (name !== undefined || provider !== undefined))
    throw usageError(
      'expected the name of an account, --provider, or --all',
      `To see what is held against whom: ${nextCommand(context, 'auth', 'status')}`,
    );
  return withAuth(context, async ({ profiles, candidateHealth }) => {
    const forgotten = await candidateHealth.reset({ profile: name, provider });
    const isKnown = name === undefined || forgotten > 0 || (await profiles.list()).some(({ id }) => id === name);
    if (!isKnown) throw accountNotFound(name);
    if (json) await out.document({ forgotten });
    else
      await out.line(
        forgotten === 0
          ? 'Nothing was known of any.'
          : `${out.styles.green('Forgotten')} what was known of ${counted(forgotten, 'candidate')}; each may be tried at once.`,
      );
    return EXIT_SUCCESS;
  });
}

interface SecretCheck {
  readonly id: string;
  readonly provider: string;
  /** False: the program has a login of its own, and there is nothing to read. */
  readonly hasSecret: boolean;
  readonly resolves: boolean;
  readonly error?: ErrorRecord;
}

async function checkSecret(
  { interruption: { signal } }: CommandContext,
  { profiles }: HomeAccounts,
  { id, provider, secret }: AuthProfile,
): Promise<SecretCheck> {
  const hasSecret = secret !== undefined;
  try {
    await profiles.credential(id, signal);
    return { id, provider, hasSecret, resolves: true };
  } catch (error) {
    if (signal.aborted) throw error;
    return {
      id,
      provider,
      hasSecret,
      resolves: false,
      error: (RuntimeError.is(error)
        ? error
        : new RuntimeError('AUTH_VALUE_MISSING', messageOf(error), { category: 'not_found' })
      ).toJSON(),
    };
  }
}

function profileOf({ name, words, provider, env, command = false, set = [] }: AddOptions): AuthProfile {
  if (command && env !== undefined)
    throw usageError('expected --env or --command, received both', 'A secret is in one place.');
  if (command && words.length === 0)
    throw usageError(
      'expected a program after --command --',
      'For example: wakechart auth add work --provider openai --command -- pass show openai/work',
    );
  if (!command && words.length > 0)
    throw usageError(
      `expected one name, received ${counted(words.length, 'word')} more`,
      'A command that prints the secret goes behind --command --. The secret itself goes nowhere on a command line.',
    );
  if (!command && env === undefined && set.length === 0)
    throw usageError(
      'expected --env VARIABLE or --command -- PROGRAM',
      'A program that has its own login needs neither: say with --set which account it is to use.',
    );
  return {
    id: name,
    provider,
    ...(command ? { secret: { command: [...words] } } : env === undefined ? {} : { secret: { env } }),
    ...(set.length === 0 ? {} : { environment: Object.fromEntries(set.map(assignment)) }),
  };
}

function assignment(text: string): readonly [string, string] {
  const [, name, value] = /^(?<name>[A-Za-z_][A-Za-z0-9_]*)=(?<value>.*)$/s.exec(text) ?? [];
  // What was given is not repeated: it may be what should not have been given.
  if (name === undefined || value === undefined)
    throw usageError('expected --set NAME=VALUE', 'For example: --set "CLAUDE_CONFIG_DIR=$HOME/.claude-team"');
  return [name, value];
}

/** What is probably not what was meant, and may be all the same. */
async function tellDoubts({ err }: CommandContext, { provider, secret }: AuthProfile): Promise<void> {
  const doubts: string[] = [];
  const known = Object.keys(KNOWN_PROVIDERS);
  const meant = closestName(provider, known);
  if (!known.includes(provider) && meant !== undefined)
    doubts.push(`no provider ${JSON.stringify(provider)} is known from the start; did you mean "${meant}"?`);
  if (secret !== undefined && 'env' in secret && !process.env[secret.env])
    doubts.push(`${secret.env} is not set here; it has to be where sessions run`);
  for (const doubt of doubts) await err.line(`${err.styles.yellow('note:')} ${printable(doubt)}`);
}

async function tellChecks({ out }: CommandContext, checks: readonly SecretCheck[]): Promise<void> {
  for (const { id, error, hasSecret } of checks) {
    const good = hasSecret
      ? `${out.styles.green('ok')}    ${id}: its secret is there`
      : `${out.styles.dim('none')}  ${id}: it has no secret to read; its program has a login of its own`;
    await out.line(
      error === undefined
        ? good
        : `${out.styles.red('fails')} ${id}: ${oneLine(error.message)} ${out.styles.dim(`[${error.code}]`)}`,
    );
  }
}

async function tellHealth(context: CommandContext, candidates: readonly CandidateHealth[]): Promise<void> {
  const { out } = context;
  if (candidates.length === 0) return out.line('Nothing is held against any candidate, and none has been used yet.');
  const nowMs = Date.now();
  for (const line of tableLines(
    HEALTH_HEADINGS,
    candidates.map((health) => healthRow(health, nowMs)),
    out,
  ))
    await out.line(line);
  if (candidates.some(({ state }) => state === 'disabled'))
    await out.line(`Once you have put things right: ${nextCommand(context, 'auth', 'reset', '--all')}`);
}

/** As programs see it: the names of what is set, not the values. */
function plainProfile({ id, provider, secret, environment }: AuthProfile): object {
  return {
    id,
    provider,
    ...(secret === undefined ? {} : { secret }),
    ...(environment === undefined ? {} : { sets: Object.keys(environment) }),
  };
}
