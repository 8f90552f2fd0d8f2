/**
 * In what a session works: how it is shut in, what is mounted, which secrets have names. Never a value of one, nor of a
 * variable.
 */
import type { EnvironmentDefinition } from '../environment/environment-definition.ts';
import { AGENT_SKILLS_PATH } from '../environment/mount-table.ts';
import type { Mount } from '../environment/mount-table.ts';
import { jsonArtifact, joined, list, table, textArtifact, yesOrNo } from './artifact.ts';
import type { Artifact } from './artifact.ts';

export interface SecretFacts {
  /** `vault/secret`. */
  readonly reference: string;
  readonly description?: string | undefined;
  readonly hosts: readonly string[];
  readonly isForCommands: boolean;
  readonly problem?: string | undefined;
}

export interface EnvironmentFacts {
  readonly definition: EnvironmentDefinition;
  readonly fingerprint: string;
  readonly within: readonly string[];
  /** What shuts commands in, if anything does. */
  readonly sandbox: string | undefined;
  readonly mounts: readonly Mount[];
  readonly secrets: readonly SecretFacts[];
}

export function environmentArtifacts(environment: EnvironmentFacts | undefined): readonly Artifact[] {
  return environment === undefined
    ? unknownEnvironment()
    : [...isolationArtifacts(environment), ...mountArtifacts(environment), ...vaultArtifacts(environment)];
}

const NOTHING_SHUT_IN = 'Commands run on the host, with all rights of the user who runs Wakechart. Nothing is shut in.';

function unknownEnvironment(): readonly Artifact[] {
  return [
    jsonArtifact('environment', { sandbox: 'off', network: 'open' }),
    textArtifact('environment', 'Environment', NOTHING_SHUT_IN),
  ];
}

function isolationArtifacts({ definition, fingerprint, within, sandbox }: EnvironmentFacts): readonly Artifact[] {
  const { environmentId, description, network, quota, permission, budget, variables, evaluation } = definition;
  const variableNames = { passed: [...variables.pass], set: Object.keys(variables.set) };
  const facts = {
    environmentId,
    description,
    fingerprint,
    within,
    sandbox: sandbox ?? 'off',
    network,
    quota,
    permission,
    budget,
    variables: variableNames,
    evaluation: { check: evaluation.check !== undefined, judge: evaluation.judge !== undefined },
  };
  const rows = [
    ['environment', environmentId],
    ['sandbox', sandbox ?? 'off'],
    ['network of commands', network],
    ['workspace may hold', quotaText(quota)],
    ['permissions at least', permission.mode === 'preapproved' ? 'those of the agent' : permission.mode],
    ['asks about', joined(permission.ask)],
    ['denies', joined(permission.deny)],
    [
      'may be used up',
      joined(
        Object.entries(budget).map(([bound, limit]) => `${bound} ${limit}`),
        'what the agent may',
      ),
    ],
    ['bounds of', joined(within, 'no other environment')],
    ['variables of the host', joined(variableNames.passed, 'none besides the usual ones')],
    ['variables set', joined(variableNames.set)],
    ['fingerprint', fingerprint],
  ];
  const isolation =
    sandbox === undefined
      ? NOTHING_SHUT_IN
      : `Commands run in a sandbox (${sandbox}): they see the mounts and the programs of the system, and nothing else.${network === 'disabled' ? ' They have no network.' : ' They have the network of the host, its loopback included.'}`;
  return [
    jsonArtifact('environment', facts),
    textArtifact('environment', 'Environment', description, isolation, table(['what', ''], rows)),
  ];
}

function quotaText({ maxBytes, maxFiles }: EnvironmentDefinition['quota']): string {
  const bounds = [
    ...(maxBytes === undefined ? [] : [`${maxBytes} bytes`]),
    ...(maxFiles === undefined ? [] : [`${maxFiles} files and folders`]),
  ];
  return joined(bounds, 'as much as there is room for');
}

const ACCESS = { rw: 'read and write', ro: 'read', none: 'by name only' } as const satisfies Record<
  Mount['access'],
  string
>;

const WHAT = {
  workspace: 'Where the session works. Paths begin here.',
  agent: 'What all sessions of the agent share. Changed by promotion only. `/agent` is the same.',
  runtime: 'What the session keeps for itself.',
  learnings: 'What the agent has learned.',
  skills: 'How things are done, for all agents. Written by people.',
  vault: 'Secrets. Put in where they are used, never readable.',
  declared: 'Given by the environment.',
} as const satisfies Record<Mount['kind'], string>;

function whatOf({ kind, path }: Mount): string {
  return path === AGENT_SKILLS_PATH ? 'How things are done, for this agent alone. Written by people.' : WHAT[kind];
}

const NAMES_IN_SANDBOX =
  'Tools for files and commands use the same names. In commands `/agent` is always there, `/workspace/agent` where the workspace has an empty folder `agent` for it; the workspace is there by its own path too, which `pwd` shows.';
const NAMES_ON_HOST =
  'The names are for the tools for files only. Commands run on the host and see its real folders: `/workspace` and the like are not there for them.';

/** In a sandbox without the folders of the host: the agent has its own names. */
function mountArtifacts({ mounts, sandbox }: EnvironmentFacts): readonly Artifact[] {
  const shown = mounts.map((mount) => ({
    path: mount.path,
    access: mount.access,
    kind: mount.kind,
    commands: commandPath(mount, sandbox),
    what: whatOf(mount),
  }));
  const rows = shown.map(({ path, access, commands, what }) => [path, ACCESS[access], commands ?? 'not there', what]);
  return [
    jsonArtifact(
      'mounts',
      shown.map(({ what: _, ...mount }) => mount),
    ),
    textArtifact(
      'mounts',
      'Mounts',
      sandbox === undefined ? NAMES_ON_HOST : NAMES_IN_SANDBOX,
      table(['path', 'access', 'for commands', 'what it is'], rows),
    ),
  ];
}

/** Null where commands do not see it. */
function commandPath({ kind, path, directory, access }: Mount, sandbox: string | undefined): string | null {
  if (directory === undefined || access === 'none') return null;
  if (sandbox === undefined) return directory;
  return kind === 'agent' ? '/agent' : path;
}

function vaultArtifacts({ definition: { vaults }, secrets }: EnvironmentFacts): readonly Artifact[] {
  const rows = secrets.map(({ reference, hosts, isForCommands, problem, description }) => [
    reference,
    yesOrNo(isForCommands),
    joined(hosts),
    problem ?? '',
    description ?? '',
  ]);
  const none = vaults.length === 0 ? 'The environment names no vault.' : list(vaults);
  return [
    jsonArtifact('vaults', { vaults, secrets }),
    textArtifact(
      'vaults',
      'Vaults',
      none,
      table(['secret', 'for commands', 'may be sent to', 'problem', 'what it is'], rows),
      vaults.length === 0 ? '' : 'Names only. A secret is named where it is used, and put in there.',
    ),
  ];
}
