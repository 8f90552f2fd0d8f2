/** The words of `wakechart skills`: its commands with their arguments, options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty, wholeNumber } from '../usage.ts';

interface OfAgent {
  readonly agent?: string;
}

const AGENT = ['--agent <name>', 'count the skills of this agent too, which go before those of all'] as const;
const MAX_HITS = 50;

export function addSkillsCommands(program: Command, run: RunWork): void {
  const skills = program
    .command('skills')
    .description('instructions that agents can look up: list, show, search, validate');
  const load = (): Promise<typeof import('./skills.ts')> => import('./skills.ts');
  const list = skills.command('list').description('list the skills');
  withExamples(list, 'wakechart skills list', 'wakechart skills list --agent reviewer')
    .option(...AGENT, nonEmpty)
    .action(({ agent }: OfAgent) => run(list, async (context) => (await load()).listSkills(context, { agent })));
  const show = skills.command('show').description('show a skill, or a file of it');
  withExamples(show, 'wakechart skills show release-notes', 'wakechart skills show release-notes --file template.md')
    .argument('<name>', 'its name')
    .option('--file <path>', 'a file in its folder (default: SKILL.md)', nonEmpty)
    .option(...AGENT, nonEmpty)
    .action((name: string, { agent, file }: OfAgent & { readonly file?: string }) =>
      run(show, async (context) => (await load()).showSkill(context, { name, agent, file })),
    );
  const search = skills.command('search').description('find skills by words');
  withExamples(search, 'wakechart skills search release notes')
    .argument('<words...>', 'what is to be done')
    .option('--limit <n>', 'skills to show (default: 5)', wholeNumber({ min: 1, max: MAX_HITS }))
    .option(...AGENT, nonEmpty)
    .action((words: readonly string[], { agent, limit }: OfAgent & { readonly limit?: number }) =>
      run(search, async (context) => (await load()).searchForSkills(context, { words, agent, limit })),
    );
  const validate = skills.command('validate').description('check a SKILL.md without keeping it');
  withExamples(validate, 'wakechart skills validate SKILL.md')
    .argument('<file>', 'the file')
    .action((file: string) => run(validate, async (context) => (await load()).validateSkill(context, file)));
}
