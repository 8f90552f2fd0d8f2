/** Checks the programs that run agents: whether they are versions that were tried. */
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { ProviderTable } from '../../machines/run/provider-settings.ts';
import { untriedPrograms } from '../open/untried-programs.ts';
import { note } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface ProgramsCheck {
  readonly agents: Pick<AgentCatalog, 'list'>;
  readonly providers: ProviderTable;
  readonly directoryOf: (agentId: string) => string;
}

export async function checkPrograms({ agents, providers, directoryOf }: ProgramsCheck): Promise<RepairableFinding[]> {
  const definitions = (await agents.list()).flatMap((listing) => ('definition' in listing ? [listing.definition] : []));
  const found = await Promise.all(
    definitions.map((definition) => untriedPrograms(definition, providers, directoryOf(definition.agentId))),
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
