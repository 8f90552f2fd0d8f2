import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileAgentCatalog } from '../../../src/adapters/agents/file-agent-catalog.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
let catalog: FileAgentCatalog;
beforeEach(async () => {
  home = await temporaryHome();
  catalog = new FileAgentCatalog({ agentsDirectory: join(home.path, 'agents') });
});
afterEach(() => home.remove());

const frontmatter = { name: 'Reviewer', provider: 'script', model: 'play.json' } as const;
const file = (yaml: string, body = 'Be brief.'): string => `---\n${yaml}\n---\n\n${body}\n`;
const SMALLEST = file('name: Reviewer\nprovider: script\nmodel: play.json');

describe('an agent', () => {
  it('is read as it was created, from its parts', async () => {
    const definition = await catalog.create({
      agentId: 'reviewer',
      source: {
        frontmatter: { ...frontmatter, tools: ['shell_run'], budget: { maxModelStepsPerWake: 5 } },
        instructions: 'Be brief.\n\n---\n\nReally.',
      },
    });
    expect(definition).toEqual({
      agentId: 'reviewer',
      name: 'Reviewer',
      description: '',
      provider: 'script',
      model: 'play.json',
      permission: { mode: 'preapproved', allow: [], ask: [], deny: [] },
      tools: [{ type: 'builtin', name: 'shell_run' }],
      budget: { maxModelStepsPerWake: 5 },
      context: {},
      instructions: 'Be brief.\n\n---\n\nReally.',
    });
    expect(await catalog.get('reviewer')).toEqual(definition);
  });

  it('is read as it was created, from its file, which stays as it was written', async () => {
    await catalog.create({ agentId: 'reviewer', source: SMALLEST });
    expect(await readFile(join(home.path, 'agents/reviewer/agent.md'), 'utf8')).toBe(SMALLEST);
    expect(await catalog.get('reviewer')).toMatchObject({ name: 'Reviewer', instructions: 'Be brief.' });
  });

  it('lies in a folder of its owner, whole or not at all', async () => {
    await catalog.create({ agentId: 'reviewer', source: SMALLEST });
    expect(await readdir(join(home.path, 'agents/reviewer'))).toEqual(['agent.md']);
    expect((await stat(join(home.path, 'agents/reviewer'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(home.path, 'agents/reviewer/agent.md'))).mode & 0o777).toBe(0o600);
  });

  it('is created once, though many try', async () => {
    const codes = await Promise.all(
      Array.from({ length: 8 }, () => codeOf(catalog.create({ agentId: 'reviewer', source: SMALLEST }))),
    );
    expect(codes.filter((code) => code === 'it succeeded')).toHaveLength(1);
    expect(codes.filter((code) => code === 'AGENT_EXISTS')).toHaveLength(7);
  });

  it('that is not valid is not created', async () => {
    expect(await codeOf(catalog.create({ agentId: 'reviewer', source: 'no frontmatter' }))).toBe('AGENT_INVALID');
    expect(await codeOf(catalog.create({ agentId: '../reviewer', source: SMALLEST }))).toBe('AGENT_INVALID');
    expect(
      await codeOf(
        catalog.create({
          agentId: 'reviewer',
          source: { frontmatter: { ...frontmatter, name: '' }, instructions: '' },
        }),
      ),
    ).toBe('AGENT_INVALID');
    expect(await catalog.list()).toEqual([]);
  });

  it('that is not there is not found, by whatever name', async () => {
    expect(await codeOf(catalog.get('nobody'))).toBe('AGENT_NOT_FOUND');
    expect(await codeOf(catalog.get('../../etc/passwd'))).toBe('AGENT_INVALID');
  });

  it('that is broken is listed beside the others', async () => {
    await catalog.create({ agentId: 'good', source: SMALLEST });
    await mkdir(join(home.path, 'agents/broken'));
    await writeFile(join(home.path, 'agents/broken/agent.md'), '---\nname: [\n---\n');
    await mkdir(join(home.path, 'agents/empty-folder'));
    await mkdir(join(home.path, 'agents/Not An Agent'));
    expect(await catalog.list()).toMatchObject([
      { agentId: 'broken', error: { code: 'AGENT_INVALID' } },
      { agentId: 'good', definition: { name: 'Reviewer' } },
    ]);
  });
});

describe('an agent file is refused with its line', () => {
  it.each<[string, string, number, RegExp]>([
    ['without frontmatter', 'Just text.', 1, /expected frontmatter/],
    ['whose frontmatter does not end', '---\nname: x\n', 1, /expected frontmatter/],
    ['that is empty', '', 1, /expected frontmatter/],
    ['that is not YAML', file('name: Reviewer\nmodel: play: json'), 3, /Nested mappings/],
    ['with a key twice', file('name: a\nprovider: script\nname: b\nmodel: c'), 4, /unique/],
    ['with a key nobody knows', file('name: a\nprovider: script\nmodell: c\nmodel: c'), 4, /modell/],
    ['without a model', file('name: a\nprovider: script'), 2, /model: expected string, received undefined/],
    [
      'with a number for a name',
      file('provider: script\nname: 5\nmodel: c'),
      3,
      /name: expected string, received number/,
    ],
    [
      'with a permission that is not there yet',
      file('name: a\nprovider: script\nmodel: c\npermission: prompt'),
      5,
      /permission: expected one of "preapproved"\|"ask"\|"deny"/,
    ],
    [
      'with too large a budget',
      file('name: a\nprovider: script\nmodel: c\nbudget:\n  maxModelStepsPerWake: 5000'),
      6,
      /budget\.maxModelStepsPerWake/,
    ],
    [
      'with a tool that is no name',
      file('name: a\nprovider: script\nmodel: c\ntools:\n  - shell_run\n  - 7'),
      7,
      /tools\[1\]/,
    ],
    [
      'with a fallback that names no model',
      file('name: a\nprovider: script\nmodel: c\nfallbacks: [x]'),
      5,
      /fallbacks\[0\]: expected provider\/model/,
    ],
    [
      'with an environment that has no name',
      file('name: a\nprovider: script\nmodel: c\nenvironment: ../x'),
      5,
      /environment: /,
    ],
    ['that is a list', file('- name: a'), 2, /expected object, received array/],
    ['that says nothing', file(''), 2, /expected object, received null/],
  ])('%s', (_name, source, line, pattern) => {
    try {
      catalog.validate('reviewer', source, 'my-agent.md');
      expect.unreachable('it was accepted');
    } catch (error) {
      if (!RuntimeError.is(error)) throw error;
      expect(error.message).toMatch(/^agent file my-agent\.md is not valid: line /);
      expect(error.message).toMatch(pattern);
      expect(error.details).toMatchObject({ fileName: 'my-agent.md', line });
    }
  });

  it('that would grow without end', () => {
    const bomb = Array.from(
      { length: 12 },
      (_, level) =>
        `a${level}: &a${level} [${Array.from({ length: 9 }, () => (level === 0 ? 'x' : `*a${level - 1}`)).join(',')}]`,
    ).join('\n');
    expect(() => catalog.validate('reviewer', file(bomb))).toThrow(/alias/i);
    expect(() => catalog.validate('reviewer', file(`name: ${'x'.repeat(300_000)}`))).toThrow(/at most/);
  });

  it('whatever is in it, without breaking', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => file(text)),
          fc.json().map((text) => file(text)),
        ),
        (source) => {
          try {
            catalog.validate('reviewer', source);
          } catch (error) {
            expect(RuntimeError.is(error) && error.code).toBe('AGENT_INVALID');
          }
        },
      ),
    );
  });
});

describe('an agent file', () => {
  it('may have Windows line ends and a byte order mark', () => {
    expect(catalog.validate('reviewer', `\uFEFF${SMALLEST.replaceAll('\n', '\r\n')}`)).toMatchObject({
      name: 'Reviewer',
      instructions: 'Be brief.',
    });
  });

  it('may have no instructions', () => {
    expect(catalog.validate('reviewer', '---\nname: a\nprovider: b\nmodel: c\n---')).toMatchObject({
      instructions: '',
    });
  });
});
