/** `wakechart skills list | show | search | validate`. */
import { join } from 'node:path';
import { problemsOf, readable } from '../../actors/skill/skill-catalog.ts';
import type { SkillListing, SkillQuery } from '../../actors/skill/skill-catalog.ts';
import { MAX_SKILL_FILE_CHARACTERS, SKILL_FILE } from '../../machines/skill/skill-definition.ts';
import type { Skill } from '../../machines/skill/skill-definition.ts';
import { DEFAULT_SKILL_HITS, MAX_SKILL_QUERY_CHARACTERS, searchSkills } from '../../machines/skill/skill-search.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { checkHome } from '../home.ts';
import { skillCatalogOf } from '../open/known-home.ts';
import { withAgents } from '../open/stores.ts';
import { tableLines } from '../terminal/table.ts';
import { printable } from '../terminal/text.ts';
import { readTextFile } from '../terminal/text-file.ts';
import { checkedAgentName, usageError } from '../usage.ts';

/** A character takes at most four bytes. */
const MAX_SKILL_FILE_BYTES = MAX_SKILL_FILE_CHARACTERS * 4;

export interface SkillsOptions {
  /** Whose skills count too. */
  readonly agent: string | undefined;
}

export async function listSkills(context: CommandContext, options: SkillsOptions): Promise<number> {
  const { out, json, home } = context;
  const listings = await skillsOf(context, options);
  const skills = readable(listings);
  const strangers = await skillCatalogOf(context).unknownEntries({ agentId: options.agent });
  if (json)
    await out.document({ skills: skills.map(withoutText), problems: problemsOf(listings), passedOver: strangers });
  else if (skills.length === 0)
    await out.line(`No skills in ${join(home, 'skills')}: each is a folder with a ${SKILL_FILE}.`);
  else
    for (const line of tableLines(
      ['NAME', 'FOR', 'WHAT IT IS FOR'],
      skills.map(({ name, scope, description }) => [
        name,
        scope === 'agent' ? (options.agent ?? '') : 'all agents',
        description,
      ]),
      out,
    ))
      await out.line(line);
  if (!json) {
    await tellProblems(context, listings);
    for (const { path, because } of strangers)
      await context.err.line(
        `${context.err.styles.yellow('note:')} ${printable(path)} is passed over: ${printable(because)}`,
      );
  }
  return EXIT_SUCCESS;
}

export async function showSkill(
  context: CommandContext,
  { name, agent, file }: SkillsOptions & { readonly name: string; readonly file: string | undefined },
): Promise<number> {
  const { out, json } = context;
  const query = await queryOf(context, agent);
  const read = await skillCatalogOf(context).read(name, { ...query, file });
  if (json) await out.document(read);
  else {
    await out.line(printable(read.text).trimEnd());
    const others = read.files.filter((each) => each !== read.file);
    if (others.length > 0) await out.line(out.styles.dim(`Other files of it: ${printable(others.join(', '))}`));
  }
  return EXIT_SUCCESS;
}

export async function searchForSkills(
  context: CommandContext,
  {
    words,
    agent,
    limit = DEFAULT_SKILL_HITS,
  }: SkillsOptions & { readonly words: readonly string[]; readonly limit: number | undefined },
): Promise<number> {
  const { out, json } = context;
  const query = words.join(' ').trim();
  if (query === '')
    throw usageError(
      'expected words to search for, received none',
      'Say what is to be done: wakechart skills search release notes',
    );
  if (query.length > MAX_SKILL_QUERY_CHARACTERS)
    throw usageError(
      `expected at most ${MAX_SKILL_QUERY_CHARACTERS} characters to search for, received ${query.length}`,
      'A few words will do.',
    );
  const listings = await skillsOf(context, { agent });
  const hits = searchSkills(readable(listings), query, limit);
  if (json) await out.document({ query, skills: hits, problems: problemsOf(listings) });
  else if (hits.length === 0) await out.line('No skill has any of these words.');
  else
    for (const line of tableLines(
      ['NAME', 'FOUND IN', 'WHAT IT IS FOR'],
      hits.map(({ name, foundIn, description }) => [name, foundIn.join(', '), description]),
      out,
    ))
      await out.line(line);
  if (!json) await tellProblems(context, listings);
  return EXIT_SUCCESS;
}

export async function validateSkill(context: CommandContext, file: string): Promise<number> {
  const { out, json } = context;
  const skill = skillCatalogOf(context).validate(
    await readTextFile({ path: file, what: 'skill file', maxBytes: MAX_SKILL_FILE_BYTES }),
    file,
  );
  if (json) await out.document({ valid: true, ...withoutText(skill) });
  else {
    await out.line(`${out.styles.green('Valid:')} ${printable(skill.name)}, ${printable(skill.description)}`);
    await out.line(out.styles.dim(`Its folder must have its name: skills/${skill.name}/${SKILL_FILE}`));
  }
  return EXIT_SUCCESS;
}

async function skillsOf(context: CommandContext, { agent }: SkillsOptions): Promise<readonly SkillListing[]> {
  return skillCatalogOf(context).list(await queryOf(context, agent));
}

/** An agent that is not there has no skills, but the user who named it meant another. */
async function queryOf(context: CommandContext, agent: string | undefined): Promise<SkillQuery> {
  await checkHome(context.home);
  if (agent === undefined) return {};
  const agentId = checkedAgentName(agent);
  await withAgents(context, ({ agents }) => agents.get(agentId));
  return { agentId };
}

function withoutText({ instructions: _instructions, ...rest }: Skill): Omit<Skill, 'instructions'> {
  return rest;
}

async function tellProblems({ err }: CommandContext, listings: readonly SkillListing[]): Promise<void> {
  for (const { problem } of problemsOf(listings)) await err.line(`${err.styles.yellow('note:')} ${printable(problem)}`);
}
