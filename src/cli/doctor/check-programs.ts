/** Checks the programs that run agents: whether they are there, in versions that were tried. */
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { HomeLayout } from '../../adapters/files/layout.ts';
import type { AskedVersion } from '../../machines/run/tried-programs.ts';
import { homeProviders } from '../open/known-home.ts';
import { untriedPrograms } from '../open/untried-programs.ts';
import { note } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface ProgramsCheck {
  readonly agents: Pick<AgentCatalog, 'list'>;
  readonly layout: Pick<HomeLayout, 'home' | 'agentDirectory'>;
}

const REMEDIES: Readonly<Record<AskedVersion['kind'], string>> = {
  told: 'It may work all the same. docs/backends.md has the versions that were tried.',
  unreadable: 'Check that it is the program that is meant. docs/backends.md has the versions that were tried.',
  missing: 'Until it is there, or a fallback is named, its agents cannot work here.',
};

export async function checkPrograms({ agents, layout }: ProgramsCheck): Promise<RepairableFinding[]> {
  // A file of providers that cannot be read is told by every command that needs it.
  const providers = await homeProviders(layout.home).catch(() => ({}));
  const definitions = (await agents.list()).flatMap((listing) => ('definition' in listing ? [listing.definition] : []));
  const found = await Promise.all(
    definitions.map((definition) => untriedPrograms(definition, providers, layout.agentDirectory(definition.agentId))),
  );
  // Many agents are run by one program.
  const once = new Map(found.flat().map((each) => [`${each.command}\n${each.what}`, each]));
  return [...once.values()].map(({ command, what, asked }) =>
    note({ area: 'programs', where: command, what, remedy: REMEDIES[asked.kind] }),
  );
}
