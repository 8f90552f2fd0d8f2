/**
 * What is probably not what was meant about the models that an agent names, and the accounts that are to pay, as far as
 * a home is known.
 */
import { closestName } from '../closest-name.ts';
import type { AuthProfile } from '../run/auth-profile.ts';
import { candidateText } from '../run/candidate.ts';
import type { ModelChoice } from '../run/candidate.ts';
import type { AgentDefinition } from './agent-definition.ts';
import { modelsOf } from './agent-definition.ts';
import type { FrontmatterIssue } from './frontmatter-issues.ts';

/** What a home has for running agents. */
export interface KnownHome {
  /** Names of the providers that a backend serves. */
  readonly providers: readonly string[];
  readonly profiles: readonly Pick<AuthProfile, 'id' | 'provider'>[];
  /** Those of the providers whose programs ask no person before they act. */
  readonly unasking?: readonly string[] | undefined;
  /** Those of the providers whose programs are missing, or no version that was tried, with the words that say so. */
  readonly untried?: Readonly<Record<string, string>> | undefined;
  /** Environments that are there. Absent: nothing is said about the one that an agent names. */
  readonly environments?: readonly string[] | undefined;
  /** Skills that this agent could use. Absent: nothing is said about those that it names. */
  readonly skills?: readonly string[] | undefined;
}

type Path = readonly (string | number)[];

/** A model with where it stands in the frontmatter; the first choice stands at its top. */
interface PlacedChoice {
  readonly choice: ModelChoice;
  readonly path: Path;
}

export function modelWarnings(
  agent: Pick<AgentDefinition, 'provider' | 'model' | 'profile' | 'profiles' | 'fallbacks'>,
  home: KnownHome,
): FrontmatterIssue[] {
  const placed = modelsOf(agent).map((choice, index): PlacedChoice => ({
    choice,
    path: index === 0 ? [] : ['fallbacks', index - 1],
  }));
  return placed.flatMap((each, index) => [
    ...unknownProvider(each, home),
    ...untriedProgram(each, home),
    ...unknownProfiles(each, home),
    ...repeated(each, placed.slice(0, index)),
  ]);
}

function unknownProvider({ choice: { provider }, path }: PlacedChoice, { providers }: KnownHome): FrontmatterIssue[] {
  if (providers.includes(provider)) return [];
  return [
    {
      path: path.length === 0 ? ['provider'] : path,
      message: `no backend serves a provider "${provider}" here${meant(provider, providers)}; say in providers.yaml how it is reached, or bring a backend of that name`,
    },
  ];
}

function untriedProgram({ choice: { provider }, path }: PlacedChoice, { untried = {} }: KnownHome): FrontmatterIssue[] {
  const what = Object.hasOwn(untried, provider) ? untried[provider] : undefined;
  return what === undefined ? [] : [{ path: path.length === 0 ? ['provider'] : path, message: what }];
}

function unknownProfiles(
  { choice: { provider, profile, profiles = [] }, path }: PlacedChoice,
  home: KnownHome,
): FrontmatterIssue[] {
  const named = [
    ...(profile === undefined ? [] : [{ id: profile, at: [...path, 'profile'] }]),
    ...profiles.map((id, index) => ({ id, at: [...path, 'profiles', index] })),
  ];
  return named.flatMap(({ id, at }): FrontmatterIssue[] => {
    const found = home.profiles.find((known) => known.id === id);
    if (found?.provider === provider) return [];
    if (found !== undefined)
      return [{ path: at, message: `the account "${id}" is one with "${found.provider}", not with "${provider}"` }];
    const names = home.profiles.filter((known) => known.provider === provider).map((known) => known.id);
    return [
      {
        path: at,
        message: `there is no account "${id}" in this home${meant(id, names)}; add it with: wakechart auth add ${id} --provider ${provider}`,
      },
    ];
  });
}

/** A run tries each model with each account once. */
function repeated({ choice, path }: PlacedChoice, earlier: readonly PlacedChoice[]): FrontmatterIssue[] {
  const index = earlier.findIndex((other) => covers(other.choice, choice));
  if (index < 0) return [];
  return [
    {
      path,
      message: `${candidateText(choice)} is ${index === 0 ? 'the first choice' : `fallback ${index}`} already; it is not tried again`,
    },
  ];
}

function covers(one: ModelChoice, other: ModelChoice): boolean {
  if (one.provider !== other.provider || one.model !== other.model || one.backend !== other.backend) return false;
  const [ours, theirs] = [accountsOf(one), accountsOf(other)];
  return ours === undefined || (theirs !== undefined && theirs.every((id) => ours.includes(id)));
}

/** Undefined: all of the provider. */
function accountsOf({ profile, profiles }: ModelChoice): readonly string[] | undefined {
  return profile === undefined ? profiles : [profile];
}

/** To be put after what is not there. */
export function meant(given: string, names: readonly string[]): string {
  const name = closestName(given, names);
  return name === undefined ? '' : `; did you mean "${name}"?`;
}
