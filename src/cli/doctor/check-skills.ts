/** Checks skills: those that cannot be read, and what lies among them and is none. */
import type { SkillListing, SkillQuery } from '../../actors/skill/skill-catalog.ts';
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { FileSkillCatalog } from '../../adapters/skill-files/file-skill-catalog.ts';
import { note, problem, remedyOf } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface SkillsCheck {
  readonly skills: Pick<FileSkillCatalog, 'list' | 'unknownEntries'>;
  readonly agents: Pick<AgentCatalog, 'list'>;
  /** Where those of all agents lie. */
  readonly directory: string;
}

export async function checkSkills({ skills, agents, directory }: SkillsCheck): Promise<RepairableFinding[]> {
  const findings = new Map<string, RepairableFinding>();
  const ofAgents = (await agents.list()).map(({ agentId }): SkillQuery => ({ agentId }));
  // Those of all agents come up with each of them again.
  for (const query of [{}, ...ofAgents]) {
    for (const finding of await findingsOf(skills, query, directory))
      findings.set(`${finding.where}\n${finding.what}`, finding);
  }
  return [...findings.values()];
}

async function findingsOf(
  skills: SkillsCheck['skills'],
  query: SkillQuery,
  directory: string,
): Promise<readonly RepairableFinding[]> {
  try {
    const broken = (await skills.list(query)).flatMap((listing) => brokenFindings(listing, query));
    const strangers = (await skills.unknownEntries(query)).map(({ path, because }) =>
      note({
        area: 'skills',
        where: path,
        what: `it is passed over: ${because}`,
        remedy: 'Make a skill of it, or move it away.',
      }),
    );
    return [...broken, ...strangers];
  } catch (error) {
    return [
      problem({
        area: 'skills',
        where: directory,
        what: messageOf(error),
        remedy: (RuntimeError.is(error) ? error.hint : undefined) ?? 'Check who owns it and its permissions.',
      }),
    ];
  }
}

function brokenFindings(listing: SkillListing, { agentId }: SkillQuery): readonly RepairableFinding[] {
  if (!('error' in listing)) return [];
  const where = listing.scope === 'agent' && agentId !== undefined ? `${agentId}/${listing.name}` : listing.name;
  return [problem({ area: 'skills', where, what: listing.error.message, remedy: remedyOf(listing.error) })];
}
