/**
 * Checks environments: files that cannot be read, agents that name one which is not there, mounts that cannot be had,
 * and a sandbox that is missing.
 */
import type { Sandboxes } from '../../actors/environment/command-sandbox.ts';
import type { EnvironmentCatalog, EnvironmentListing } from '../../actors/environment/environment-catalog.ts';
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import { HOST_ENVIRONMENT } from '../../machines/environment/environment-definition.ts';
import { sourceProblems } from '../../adapters/environment-files/file-mount-places.ts';
import { vaultProblems } from '../env/vaults.ts';
import { problem, remedyOf } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface EnvironmentsCheck {
  readonly catalog: EnvironmentCatalog;
  readonly agents: Pick<AgentCatalog, 'list'>;
  readonly home: string;
  /** Where vaults lie. */
  readonly vaults: string;
  readonly sandboxes: Pick<Sandboxes, 'availability'>;
}

export async function checkEnvironments({
  catalog,
  agents,
  home,
  vaults,
  sandboxes,
}: EnvironmentsCheck): Promise<RepairableFinding[]> {
  const listings = await catalog.list();
  const chosen = await choices(agents);
  return [
    ...listings.flatMap(fileFindings),
    ...chosen.flatMap((each) => agentFindings(each, listings)),
    ...(await mountFindings(listings, home)),
    ...(await vaultFindings(listings, vaults)),
    ...(await sandboxFindings(listings, chosen, sandboxes)),
  ];
}

interface Choice {
  readonly agentId: string;
  readonly environmentId: string;
}

function fileFindings(listing: EnvironmentListing): RepairableFinding[] {
  return 'error' in listing
    ? [
        problem({
          area: 'environments',
          where: listing.environmentId,
          what: listing.error.message,
          remedy: remedyOf(listing.error),
        }),
      ]
    : [];
}

function agentFindings(
  { agentId, environmentId }: Choice,
  listings: readonly EnvironmentListing[],
): RepairableFinding[] {
  if (listings.some((listing) => listing.environmentId === environmentId)) return [];
  const known = listings.flatMap((listing) => ('definition' in listing ? [listing.environmentId] : []));
  return [
    problem({
      area: 'environments',
      where: agentId,
      what: `the agent works in the environment "${environmentId}", and there is none: no session of it will wake`,
      remedy: `Make it, or name one of ${known.join(', ')} in the agent file.`,
    }),
  ];
}

async function vaultFindings(listings: readonly EnvironmentListing[], vaults: string): Promise<RepairableFinding[]> {
  const found = await Promise.all(
    listings.map(async (listing) => {
      const problems = 'definition' in listing ? await vaultProblems(vaults, listing.definition.vaults) : [];
      // One that is there and cannot be read is told with the vaults.
      const missing = problems.filter(({ code }) => code === 'VAULT_NOT_FOUND');
      return missing.map(({ message, hint }) =>
        problem({
          area: 'environments',
          where: listing.environmentId,
          what: `${message}, and the environment names it: no session in it will wake`,
          remedy: hint ?? 'Make the vault, or take its name out of the environment.',
        }),
      );
    }),
  );
  return found.flat();
}

async function mountFindings(listings: readonly EnvironmentListing[], home: string): Promise<RepairableFinding[]> {
  const found = await Promise.all(
    listings.map(async (listing) => {
      const { environmentId } = listing;
      const errors =
        'definition' in listing
          ? await sourceProblems({ home, environmentId, declared: listing.definition.mounts })
          : [];
      return errors.map(({ message, hint }) =>
        problem({ area: 'environments', where: environmentId, what: message, remedy: hint ?? 'Mend the file.' }),
      );
    }),
  );
  return found.flat();
}

/** That of the built-in one is missed only where an agent works in it. */
async function sandboxFindings(
  listings: readonly EnvironmentListing[],
  chosen: readonly Choice[],
  sandboxes: Pick<Sandboxes, 'availability'>,
): Promise<RepairableFinding[]> {
  const requiring = listings.flatMap((listing) =>
    'definition' in listing && listing.definition.sandbox === 'required'
      ? [{ id: listing.environmentId, isBuiltIn: listing.isBuiltIn }]
      : [],
  );
  const used = requiring.filter(
    ({ id, isBuiltIn }) => !isBuiltIn || chosen.some(({ environmentId }) => environmentId === id),
  );
  if (used.length === 0) return [];
  const found = await sandboxes.availability();
  if (found.kind === 'available') return [];
  return [
    problem({
      area: 'environments',
      where: used.map(({ id }) => id).join(', '),
      what: `a sandbox is required, and there is none: ${found.reason}`,
      remedy: found.hint,
    }),
  ];
}

/** The agents whose commands run with all rights of the user who runs Wakechart: no fault, and never left unsaid. */
export async function unconfinedAgents({
  catalog,
  agents,
}: Pick<EnvironmentsCheck, 'catalog' | 'agents'>): Promise<readonly string[]> {
  const off = (await catalog.list()).flatMap((listing) =>
    'definition' in listing && listing.definition.sandbox === 'off' ? [listing.environmentId] : [],
  );
  return (await choices(agents))
    .filter(({ environmentId }) => off.includes(environmentId))
    .map(({ agentId }) => agentId);
}

async function choices(agents: Pick<AgentCatalog, 'list'>): Promise<readonly Choice[]> {
  return (await agents.list()).flatMap((listing) =>
    'definition' in listing
      ? [{ agentId: listing.agentId, environmentId: listing.definition.environment ?? HOST_ENVIRONMENT.environmentId }]
      : [],
  );
}
