/** What is different between two environments, in words, and whether that shuts more in or less. */
import type { EnvironmentDefinition } from './environment-definition.ts';

export type Isolation = 'stricter' | 'looser' | 'neither';

export interface EnvironmentChange {
  /** Of the file, such as `mounts` or `budget.maxTokensPerWake`. */
  readonly key: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** As one line. */
  readonly text: string;
  readonly isolation: Isolation;
}

export interface EnvironmentComparison {
  readonly changes: readonly EnvironmentChange[];
  /** Of all of them together; `mixed`: some shut more in, and some less. */
  readonly isolation: Isolation | 'mixed';
}

export function compareEnvironments(
  before: EnvironmentDefinition,
  after: EnvironmentDefinition,
): EnvironmentComparison {
  const changes = [
    ...nameChanges(before, after),
    ...choiceChange('sandbox', before.sandbox, after.sandbox, ['off', 'required']),
    ...choiceChange('network', before.network, after.network, ['open', 'disabled']),
    ...mountChanges(before.mounts, after.mounts),
    ...givenChanges('vaults', before.vaults, after.vaults, (name) => `the vault ${name}`),
    ...choiceChange('permission.mode', before.permission.mode, after.permission.mode, ['preapproved', 'ask', 'deny']),
    ...ruleChanges(before, after),
    ...boundChanges('budget', before.budget, after.budget),
    ...givenChanges(
      'variables.pass',
      before.variables.pass,
      after.variables.pass,
      (name) => `the variable ${name} of the host`,
    ),
    ...setChanges(before.variables.set, after.variables.set),
    ...hostBoundChange(before.hostBound, after.hostBound),
    ...boundChanges('quota', before.quota, after.quota),
    ...evaluationChanges(before.evaluation, after.evaluation),
  ];
  const found = new Set(changes.map(({ isolation }) => isolation));
  const isMixed = found.has('stricter') && found.has('looser');
  return {
    changes,
    isolation: isMixed ? 'mixed' : found.has('stricter') ? 'stricter' : found.has('looser') ? 'looser' : 'neither',
  };
}

function nameChanges(before: EnvironmentDefinition, after: EnvironmentDefinition): EnvironmentChange[] {
  return (['environmentId', 'description'] as const).flatMap((key): EnvironmentChange[] =>
    before[key] === after[key]
      ? []
      : [
          {
            key,
            kind: 'changed',
            text: `${key === 'environmentId' ? 'the environment' : 'its description'} was ${shown(before[key])} and is ${shown(after[key])}`,
            isolation: 'neither',
          },
        ],
  );
}

/** @param order the loosest first */
function choiceChange(key: string, before: string, after: string, order: readonly string[]): EnvironmentChange[] {
  if (before === after) return [];
  return [
    {
      key,
      kind: 'changed',
      text: `${key} was ${before} and is ${after}`,
      isolation: order.indexOf(after) > order.indexOf(before) ? 'stricter' : 'looser',
    },
  ];
}

function hostBoundChange(before: boolean | undefined, after: boolean | undefined): EnvironmentChange[] {
  if (before === after) return [];
  return [
    {
      key: 'hostBound',
      kind: 'changed',
      text: `hostBound was ${String(before ?? 'not said')} and is ${String(after ?? 'not said')}`,
      isolation: 'neither',
    },
  ];
}

type Mounts = EnvironmentDefinition['mounts'];

function mountChanges(before: Mounts, after: Mounts): EnvironmentChange[] {
  const paths = [...new Set([...before, ...after].map(({ path }) => path))].toSorted();
  return paths.flatMap((path): EnvironmentChange[] => {
    const [was, is] = [before, after].map((mounts) => mounts.find((mount) => mount.path === path));
    if (was === undefined && is === undefined) return [];
    if (was === undefined)
      return [{ key: 'mounts', kind: 'added', text: `${path} is mounted: ${mountText(is)}`, isolation: 'looser' }];
    if (is === undefined)
      return [
        {
          key: 'mounts',
          kind: 'removed',
          text: `${path} is not mounted any more: it was ${mountText(was)}`,
          isolation: 'stricter',
        },
      ];
    if (was.source === is.source && was.access === is.access) return [];
    const isolation = was.source !== is.source ? 'neither' : is.access === 'ro' ? 'stricter' : 'looser';
    return [
      { key: 'mounts', kind: 'changed', text: `${path} was ${mountText(was)} and is ${mountText(is)}`, isolation },
    ];
  });
}

function mountText(mount: Mounts[number] | undefined): string {
  return mount === undefined
    ? 'nothing'
    : `${mount.source}, ${mount.access === 'rw' ? 'to read and write' : 'to read'}`;
}

/** Each one more is something more that is within reach. */
function givenChanges(
  key: string,
  before: readonly string[],
  after: readonly string[],
  named: (name: string) => string,
): EnvironmentChange[] {
  return [
    ...without(after, before).map((name): EnvironmentChange => ({
      key,
      kind: 'added',
      text: `${named(name)} can be used`,
      isolation: 'looser',
    })),
    ...without(before, after).map((name): EnvironmentChange => ({
      key,
      kind: 'removed',
      text: `${named(name)} cannot be used any more`,
      isolation: 'stricter',
    })),
  ];
}

function ruleChanges(before: EnvironmentDefinition, after: EnvironmentDefinition): EnvironmentChange[] {
  return (['ask', 'deny'] as const).flatMap((effect) => {
    const [was, is] = [before.permission[effect], after.permission[effect]];
    const key = `permission.${effect}`;
    return [
      ...without(is, was).map((rule): EnvironmentChange => ({
        key,
        kind: 'added',
        text: `${RULES[effect]}: ${rule}`,
        isolation: 'stricter',
      })),
      ...without(was, is).map((rule): EnvironmentChange => ({
        key,
        kind: 'removed',
        text: `no longer ${RULES[effect]}: ${rule}`,
        isolation: 'looser',
      })),
    ];
  });
}

const RULES = { ask: 'asked about', deny: 'denied' } as const;

function boundChanges(
  key: string,
  before: Readonly<Record<string, number | undefined>>,
  after: Readonly<Record<string, number | undefined>>,
): EnvironmentChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names.flatMap((name): EnvironmentChange[] => {
    const [was, is] = [before[name], after[name]];
    const path = `${key}.${name}`;
    if (was === is) return [];
    if (was === undefined)
      return [{ key: path, kind: 'added', text: `${path} is ${is}, and was not bounded`, isolation: 'stricter' }];
    if (is === undefined)
      return [
        { key: path, kind: 'removed', text: `${path} was ${was}, and is not bounded any more`, isolation: 'looser' },
      ];
    return [
      {
        key: path,
        kind: 'changed',
        text: `${path} was ${was} and is ${is}`,
        isolation: is < was ? 'stricter' : 'looser',
      },
    ];
  });
}

/** Names only: what is set there may be secret. */
function setChanges(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): EnvironmentChange[] {
  const key = 'variables.set';
  const [was, is] = [Object.keys(before), Object.keys(after)];
  return [
    ...without(is, was).map((name): EnvironmentChange => ({
      key,
      kind: 'added',
      text: `commands get ${name}`,
      isolation: 'neither',
    })),
    ...without(was, is).map((name): EnvironmentChange => ({
      key,
      kind: 'removed',
      text: `commands do not get ${name} any more`,
      isolation: 'neither',
    })),
    ...is
      .filter((name) => was.includes(name) && before[name] !== after[name])
      .map((name): EnvironmentChange => ({
        key,
        kind: 'changed',
        text: `commands get another ${name}`,
        isolation: 'neither',
      })),
  ];
}

type Evaluation = EnvironmentDefinition['evaluation'];

function evaluationChanges(before: Evaluation, after: Evaluation): EnvironmentChange[] {
  const checks = [before, after].map(({ check }) =>
    check === undefined ? undefined : `${check.command} (within ${check.timeoutSeconds} seconds)`,
  );
  const judges = [before, after].map(({ judge }) =>
    judge === undefined
      ? undefined
      : `${judge.provider}/${judge.model}${judge.profile === undefined ? '' : ` with the account ${judge.profile}`}`,
  );
  return [
    ...demandChange('evaluation.check', 'the check', checks),
    ...demandChange('evaluation.judge', 'the judge', judges),
  ];
}

function demandChange(key: string, what: string, [was, is]: readonly (string | undefined)[]): EnvironmentChange[] {
  if (was === is) return [];
  if (was === undefined) return [{ key, kind: 'added', text: `${what} is ${shown(is)}`, isolation: 'stricter' }];
  if (is === undefined)
    return [
      { key, kind: 'removed', text: `${what} was ${shown(was)}, and there is none any more`, isolation: 'looser' },
    ];
  return [{ key, kind: 'changed', text: `${what} was ${shown(was)} and is ${shown(is)}`, isolation: 'neither' }];
}

function without(names: readonly string[], others: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => !others.includes(name)).toSorted();
}

function shown(text: string | undefined): string {
  return JSON.stringify(text ?? '');
}
