import { chmod, link, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FilePolicyStore, assertPolicyOutside } from '../../../src/adapters/policy-files/file-policy-store.ts';
import { parsePolicy } from '../../../src/adapters/policy-files/policy-text.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { by, describePolicyStore, textsOf } from '../../contracts/policy-store.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

describePolicyStore('a store of files', async ({ nowMs, forEveryAgent }) => {
  const home = await temporaryHome();
  const directory = join(home.path, 'policy');
  if (forEveryAgent.length > 0) {
    await mkdir(directory);
    await writeFile(join(directory, 'all.yaml'), `rules:\n${forEveryAgent.map((text) => `  - ${text}\n`).join('')}`);
  }
  const open = (): FilePolicyStore => new FilePolicyStore({ directory, clock: { now: () => nowMs } });
  return { store: open(), beside: open(), dispose: () => home.remove() };
});

let home: TemporaryHome;
let directory: string;
let store: FilePolicyStore;
beforeEach(async () => {
  home = await temporaryHome();
  directory = join(home.path, 'policy');
  store = new FilePolicyStore({ directory, clock: { now: () => 0 } });
});
afterEach(() => home.remove());

const keepOne = (): Promise<void> => store.keep('reviewer', parseRule('allow docs__search'), by('r1'));

async function writePolicy(text: string, name = 'reviewer.yaml'): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, name), text);
}

describe('a policy file', () => {
  it('is there with the first rule, for its owner only, and nothing beside it', async () => {
    expect(await store.rules('reviewer')).toEqual([]);
    expect(await readdir(home.path)).toEqual([]);
    await keepOne();
    expect(await readdir(directory)).toEqual(['reviewer.yaml']);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, 'reviewer.yaml'))).mode & 0o777).toBe(0o600);
  });

  it('reads like what people write', async () => {
    await keepOne();
    expect(await readFile(join(directory, 'reviewer.yaml'), 'utf8')).toBe(
      'rules:\n  - rule: allow docs__search\n    since: 1970-01-01T00:00:00.000Z\n    by:\n      sessionId: 0192f0c1-2345-7abc-8def-0123456789ab\n      requestId: r1\n',
    );
  });

  it('keeps what people wrote into it, in its place, when rules are kept and removed', async () => {
    await writePolicy('# mine\nrules:\n  # never\n  - deny shell_run(rm) # really\n  - allow shell_run(npm test)\n');
    await keepOne();
    await store.remove('reviewer', 'allow shell_run(npm test)');
    const text = await readFile(join(directory, 'reviewer.yaml'), 'utf8');
    expect(text).toMatch(
      /^# mine\nrules:\n {2}# never\n {2}- deny shell_run\(rm\) # really\n {2}- rule: allow docs__search\n/,
    );
    await store.remove('reviewer', 'allow docs__search');
    expect(await readFile(join(directory, 'reviewer.yaml'), 'utf8')).toBe(
      '# mine\nrules:\n  # never\n  - deny shell_run(rm) # really\n',
    );
  });

  it.each([
    '',
    '# nothing yet\n',
    'rules:\n',
    'rules: []\n',
    '{}\n',
    'rules: [ask docs__read]\n',
    '\uFEFFrules: []\r\n',
  ])('that says %j takes a rule', async (text) => {
    await writePolicy(text);
    await keepOne();
    expect(textsOf(await store.rules('reviewer'))).toContain('allow docs__search');
  });

  it('holds a rule twice where somebody wrote it twice, and both are removed', async () => {
    await writePolicy('rules:\n  - allow docs__a\n  - allow docs__b\n  - rule: allow docs__a\n');
    expect(await store.remove('reviewer', 'allow docs__a')).toBe(true);
    expect(textsOf(await store.rules('reviewer'))).toEqual(['allow docs__b']);
  });

  it('for every agent is not written by any', async () => {
    expect(await codeOf(store.keep('all', parseRule('allow docs__search'), by('r1')))).toBe('POLICY_RESERVED');
    expect(await codeOf(store.remove('all', 'allow docs__search'))).toBe('POLICY_RESERVED');
    await writePolicy('rules:\n  - ask docs__search\n', 'all.yaml');
    expect((await store.rules('all')).map(({ isForEveryAgent }) => isForEveryAgent)).toEqual([true]);
  });
});

describe('a policy file is refused with its line', () => {
  it.each<[string, string, number, RegExp]>([
    ['that is not YAML', 'rules:\n  - allow docs__a\n - b: [', 3, /./],
    ['with a key nobody knows', 'rules: []\nrule: x\n', 2, /rule/],
    ['with a key twice', 'rules: []\nrules: []\n', 2, /unique/],
    ['that is a list', '- allow docs__a\n', 1, /expected object, received array/],
    ['that is a text', 'allow docs__a', 1, /expected object, received string/],
    ['with rules that are no list', 'rules: allow docs__a\n', 1, /expected array/],
    ['with a rule that is no text', 'rules:\n  - allow docs__a\n  - 7\n', 3, /rules\[1\]: expected the text of a rule/],
    [
      'with a rule that YAML reads as something else',
      'rules:\n  - allow shell_run(git commit -m a: b)\n',
      2,
      /expected the text of a rule/,
    ],
    [
      'with a key nobody knows beside a rule',
      'rules:\n  - rule: allow docs__a\n    sins: x\n',
      3,
      /rules\[0\]\.sins: Unrecognized key/,
    ],
    ['with a moment that is none', 'rules:\n  - rule: allow docs__a\n    since: yesterday\n', 3, /rules\[0\]\.since/],
    [
      'with a rule that is none',
      'rules:\n  - allow docs__a\n  # c\n  - alow docs__b\n',
      4,
      /rule "alow docs__b" is not valid/,
    ],
    ['with a rule that allows a bare name', 'rules:\n  - allow shell_run(git)\n', 2, /bare name/],
    [
      'with a rule that allows what runs others',
      'rules:\n  - deny shell_run(sudo)\n  - allow shell_run(sudo apt update)\n',
      3,
      /runs other commands/,
    ],
    ['with a tag nobody knows', 'rules:\n  - !!js/function x\n', 2, /tag/],
    ['with two documents', 'rules: []\n---\nrules: []\n', 2, /./],
  ])('%s', async (_name, text, line, pattern) => {
    await writePolicy(text);
    const error: unknown = await store.rules('reviewer').catch((thrown: unknown) => thrown);
    if (!RuntimeError.is(error)) throw new Error('it was accepted');
    expect(error).toMatchObject({
      code: 'POLICY_INVALID',
      category: 'permission',
      details: { fileName: 'reviewer.yaml' },
    });
    expect(error.message).toMatch(/^policy file reviewer\.yaml is not valid: line \d+: /);
    expect(error.message).toMatch(pattern);
    expect(error.details?.['line']).toBe(line);
    expect(await codeOf(keepOne())).toBe('POLICY_INVALID');
    expect(await codeOf(store.remove('reviewer', 'allow docs__a'))).toBe('POLICY_INVALID');
    expect(await readFile(join(directory, 'reviewer.yaml'), 'utf8')).toBe(text);
  });

  it('that would grow without end, or is too large', async () => {
    await writePolicy(
      Array.from(
        { length: 12 },
        (_, level) =>
          `a${level}: &a${level} [${Array.from({ length: 9 }, () => (level === 0 ? 'x' : `*a${level - 1}`)).join(',')}]`,
      ).join('\n'),
    );
    expect(await codeOf(store.rules('reviewer'))).toBe('POLICY_INVALID');
    await writePolicy(`# ${'x'.repeat(1_000_000)}`);
    expect(await codeOf(store.rules('reviewer'))).toBe('POLICY_INVALID');
  });

  it('that is not text', async () => {
    await mkdir(directory);
    await writeFile(join(directory, 'reviewer.yaml'), Uint8Array.of(0x72, 0xff, 0xfe));
    expect(await codeOf(store.rules('reviewer'))).toBe('POLICY_INVALID');
  });

  it('for every agent: then no agent has rules', async () => {
    await writePolicy('rules: x', 'all.yaml');
    expect(await codeOf(store.rules('reviewer'))).toBe('POLICY_INVALID');
  });

  it('whatever is in it, without breaking', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.string().map((text) => `rules:\n  - ${text}\n`),
          fc.string().map((text) => `rules:\n  - rule: ${text}\n`),
        ),
        (source) => {
          try {
            expect(parsePolicy({ source, fileName: 'f', isForEveryAgent: false })).toBeInstanceOf(Array);
          } catch (error) {
            expect(RuntimeError.is(error) && error.code).toBe('POLICY_INVALID');
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe.skipIf(process.platform === 'win32')('a policy that somebody else may have put there is refused', () => {
  const refused = async (): Promise<void> => {
    expect(await codeOf(store.rules('reviewer'))).toBe('POLICY_INVALID');
    expect(await codeOf(keepOne())).toBe('POLICY_INVALID');
  };

  it('when the file is a link, to something or to nothing', async () => {
    await writePolicy('rules: []', 'real.yaml');
    await symlink(join(directory, 'real.yaml'), join(directory, 'reviewer.yaml'));
    await refused();
    await symlink(join(home.path, 'nothing'), join(directory, 'writer.yaml'));
    expect(await codeOf(store.rules('writer'))).toBe('POLICY_INVALID');
  });

  it('when the folder is a link, to something or to nothing', async () => {
    await mkdir(join(home.path, 'real'));
    await symlink(join(home.path, 'real'), directory);
    await refused();
    store = new FilePolicyStore({ directory: join(home.path, 'other'), clock: { now: () => 0 } });
    await symlink(join(home.path, 'nothing'), join(home.path, 'other'));
    expect(await codeOf(store.rules('reviewer'))).toBe('POLICY_INVALID');
  });

  it('when it is a folder, or the folder a file', async () => {
    await mkdir(join(directory, 'reviewer.yaml'), { recursive: true });
    await refused();
    store = new FilePolicyStore({ directory: join(home.path, 'file'), clock: { now: () => 0 } });
    await writeFile(join(home.path, 'file'), '');
    expect(await codeOf(store.rules('reviewer'))).toBe('POLICY_INVALID');
  });

  it('when others may write the file or the folder', async () => {
    await keepOne();
    await chmod(join(directory, 'reviewer.yaml'), 0o620);
    await refused();
    await chmod(join(directory, 'reviewer.yaml'), 0o600);
    await chmod(directory, 0o702);
    await refused();
    await chmod(directory, 0o700);
    expect(textsOf(await store.rules('reviewer'))).toEqual(['allow docs__search']);
  });

  it('and its other names do not matter: what is written is a new file', async () => {
    await keepOne();
    await link(join(directory, 'reviewer.yaml'), join(home.path, 'twin'));
    await store.keep('reviewer', parseRule('allow docs__read'), by('r2'));
    expect(await readFile(join(home.path, 'twin'), 'utf8')).not.toContain('docs__read');
  });
});

describe('a policy in a workspace', () => {
  it.each([
    'workspace',
    'workspace/policy',
    'workspace/a/../policy',
    'link/policy',
    'link/not/yet',
    'workspace/..policy',
  ])('is refused: %s', async (place) => {
    await mkdir(join(home.path, 'workspace/a'), { recursive: true });
    await symlink(join(home.path, 'workspace'), join(home.path, 'link'));
    expect(
      await codeOf(
        assertPolicyOutside({ directory: join(home.path, place), workspaceDirectory: join(home.path, 'workspace') }),
      ),
    ).toBe('POLICY_INVALID');
  });

  it.each(['policy', 'workspace-policy', 'policy/not/yet', 'workspace/../policy', 'workspace/away/policy'])(
    'is not what %s is',
    async (place) => {
      await mkdir(join(home.path, 'workspace'), { recursive: true });
      await mkdir(join(home.path, 'elsewhere'), { recursive: true });
      await symlink(join(home.path, 'elsewhere'), join(home.path, 'workspace/away'));
      expect(
        await codeOf(
          assertPolicyOutside({ directory: join(home.path, place), workspaceDirectory: join(home.path, 'workspace') }),
        ),
      ).toBe('it succeeded');
    },
  );
});
