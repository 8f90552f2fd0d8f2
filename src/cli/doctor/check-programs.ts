/** Checks the programs that run agents: whether they are versions that were tried. */
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { HomeLayout } from '../../adapters/files/layout.ts';
import { homeProviders } from '../open/known-home.ts';
import { untriedPrograms } from '../open/untried-programs.ts';
import { note } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface ProgramsCheck {
  readonly agents: Pick<AgentCatalog, 'list'>;
  readonly layout: Pick<HomeLayout, 'home' | 'agentDirectory'>;
}

export async function checkPrograms({ agents, layout }: ProgramsCheck): Promise<RepairableFinding[]> {
  // A file of providers that cannot be read is told by every command that needs it.
  const providers = await homeProviders(layout.home).catch(() => ({}));
  const definitions = (await agents.list()).flatMap((listing) => ('definition' in listing ? [listing.definition] : []));
  const found = await Promise.all(
    definitions.map((definition) => untriedPrograms(definition, providers, layout.agentDirectory(definition.agentId))),
  );
  // Many agents are run by one program.
  const once = new Map(found.flat().map((each) => [`${each.command}\n${each.what}`, each]));
  return [...once.values()].map(({ command, what }) =>
    note({
      area: 'programs',
      where: command,
      what,
      remedy: 'It may work all the same. docs/backends.md has the versions that were tried.',
    }),
  );
}
