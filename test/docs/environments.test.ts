import { describe, expect, it } from 'vitest';
import { FileEnvironmentCatalog } from '../../src/adapters/environment-files/file-environment-catalog.ts';
import { environmentShape } from '../../src/machines/environment/environment-definition.ts';
import {
  AGENT_PATH,
  AGENT_SKILLS_PATH,
  LEARNINGS_PATH,
  RUNTIME_PATH,
  SKILLS_PATH,
  WORKSPACE_PATH,
} from '../../src/machines/environment/mount-table.ts';
import { codeBlocks, readPage } from './pages.ts';

const page = readPage('docs/environments.md');

describe('the page about environments', () => {
  it('shows a file that can be used', () => {
    const files = codeBlocks(page).filter(({ info }) => info === 'yaml');
    expect(files).toHaveLength(1);
    for (const { code } of files)
      expect(new FileEnvironmentCatalog({ home: '/h/.wakechart' }).validate('builds', code)).toMatchObject({
        sandbox: 'required',
        network: 'disabled',
        mounts: [{ access: 'rw' }, { source: '/h/fixtures', access: 'ro' }],
      });
  });

  it('names every key and every mount', () => {
    for (const key of Object.keys(environmentShape.shape).filter((name) => name !== 'description'))
      expect(page).toMatch(new RegExp(`^\\| .*\`${key}\``, 'm'));
    for (const path of [WORKSPACE_PATH, AGENT_PATH, RUNTIME_PATH, LEARNINGS_PATH, SKILLS_PATH, AGENT_SKILLS_PATH])
      expect(page).toContain(`| \`${path}\` |`);
  });
});
