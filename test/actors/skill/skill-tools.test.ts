/** The skills of an agent, as its tools give them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSkillTools } from '../../../src/actors/skill/skill-tools.ts';
import type { Tool } from '../../../src/actors/turn/tool.ts';
import { FileSkillCatalog } from '../../../src/adapters/skill-files/file-skill-catalog.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

describe('an agent', () => {
  it('lists, finds and reads its skills, hears of those that are broken, and has no more than its file names', async () => {
    const home = await temporaryHome();
    const catalog = new FileSkillCatalog({
      directory: join(home.path, 'skills'),
      agentDirectory: (agentId) => join(home.path, agentId),
    });
    const put = async (folder: string, name: string, body = 'Read the log.'): Promise<void> => {
      await mkdir(join(home.path, folder, name), { recursive: true });
      await writeFile(
        join(home.path, folder, name, 'SKILL.md'),
        `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}`,
      );
    };
    await put('skills', 'notes');
    await put('skills', 'review');
    await put('skills', 'secret');
    await put('worker', 'own');
    await mkdir(join(home.path, 'skills', 'broken'));
    await writeFile(join(home.path, 'skills', 'broken', 'SKILL.md'), 'x');
    const tools: readonly Tool[] = createSkillTools({
      skills: catalog,
      namedBy: ({ agentId }) => (agentId === 'worker' ? ['notes', 'own', 'broken'] : undefined),
    });
    await using setup = await openTurnSetup({ tools });
    const calls = [
      { name: 'skills_list' },
      { name: 'skills_search', input: { query: 'own' } },
      { name: 'skills_read', input: { name: 'notes' } },
      { name: 'skills_read', input: { name: 'secret' } },
      { name: 'skills_read', input: { name: 'notes', file: '../secret/SKILL.md' } },
      { name: 'skills_search', input: { query: '' } },
    ];
    await setup.agent(
      'worker',
      calls.map((call) => ({ calls: [call] })),
      { tools: ['skills'] },
    );
    const id = await setup.start('worker');
    await setup.runtime.wake(id);
    const [list, found, read, hidden, climbing, empty] = await setup.results(id);
    expect(list).toMatchObject({
      outcome: 'completed',
      output: {
        skills: [
          { name: 'notes', scope: 'home' },
          { name: 'own', scope: 'agent' },
        ],
        problems: [{ name: 'broken', problem: expect.stringContaining('line 1') as string }],
      },
    });
    expect(found).toMatchObject({ output: { skills: [{ name: 'own', foundIn: ['name', 'description'] }] } });
    expect(read).toMatchObject({
      output: { name: 'notes', output: expect.stringContaining('Read the log.') as string, files: ['SKILL.md'] },
    });
    expect(hidden).toMatchObject({
      outcome: 'failed',
      output: expect.stringContaining('There are: broken, notes, own.') as string,
    });
    expect([climbing?.outcome, empty?.outcome]).toEqual(['failed', 'failed']);
    for (const { definition } of tools)
      expect(definition).toMatchObject({ family: 'skills', readOnly: true, effects: ['reads_files'] });
    await home.remove();
  });
});
