/** Programs of agents in versions that were not tried: what the doctor, the check of an agent file and a failure say. */
import { chmod, mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programVersion } from '../../src/adapters/system/program-version.ts';
import { TRIED_PROGRAMS, triedProgramOf, untriedVersion, versionIn } from '../../src/machines/run/tried-programs.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { runInProcess } from './in-process.ts';

const { newest } = TRIED_PROGRAMS.claude;
const OLD = 'Claude Code 1.0.2 is older than';

let folder: TemporaryHome;
let home = '';

/** A program that says its version, writes down that it was asked, and understands nothing else. */
async function program(version: string): Promise<string> {
  const file = join(folder.path, `claude-${version}`);
  const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo asked >> "$0.asked"; echo "${version} (Claude Code)"; exit; fi\necho "unknown option" >&2; exit 1\n`;
  await writeFile(file, script);
  await chmod(file, 0o755);
  return file;
}

const agentFile = (provider: string): string =>
  `---\nname: Helper\nprovider: ${provider}\nmodel: default\n---\n\nHelp.\n`;
const asked = async (file: string): Promise<number> => (await readFile(`${file}.asked`, 'utf8')).split('\n').length - 1;

beforeAll(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'home');
  await mkdir(home, { mode: 0o700 });
  const settings = async (version: string): Promise<object> => ({
    backend: 'cli-agent',
    dialect: 'claude',
    program: { command: await program(version) },
  });
  const providers = { old: await settings('1.0.2'), current: await settings(newest), next: await settings('99.0.0') };
  // JSON is YAML.
  await writeFile(join(home, 'providers.yaml'), JSON.stringify(providers));
  for (const provider of Object.keys(providers))
    await writeFile(join(folder.path, `${provider}.md`), agentFile(provider));
});
afterAll(() => folder.remove());

describe('a program in a version', () => {
  it('that is older or newer than those that were tried is told by the check of an agent file', async () => {
    const warnings = async (provider: string): Promise<unknown> => {
      const file = join(folder.path, `${provider}.md`);
      const { stdout } = await runInProcess(['agent', 'validate', file, '--home', home, '--json']);
      return (JSON.parse(stdout) as { readonly warnings: unknown }).warnings;
    };
    const line = 3;
    expect(await warnings('old')).toEqual([{ line, message: expect.stringContaining(OLD) as string }]);
    expect(await warnings('next')).toEqual([
      { line, message: expect.stringContaining('Claude Code 99.0.0 is newer than') as string },
    ]);
    expect(await warnings('current')).toEqual([]);
  });

  it('that was not tried is a note of the doctor, and a home is healthy with it', async () => {
    for (const name of ['old', 'current'])
      await runInProcess(['agent', 'create', name, '--from', join(folder.path, `${name}.md`), '--home', home]);
    const { code, stdout } = await runInProcess(['doctor', '--home', home, '--json']);
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly Readonly<Record<string, unknown>>[] };
    expect(code).toBe(0);
    expect(findings.filter(({ area }) => area === 'programs')).toEqual([
      expect.objectContaining({ severity: 'note', what: expect.stringContaining(OLD) as string }),
    ]);
  });

  it('that was not tried is named where it ends without a result', async () => {
    const made = await runInProcess(['session', 'create', '--agent', 'old', '--home', home, '--json']);
    const { sessionId } = JSON.parse(made.stdout) as { readonly sessionId: string };
    await runInProcess(['session', 'send', '--session', sessionId, '--message', 'Hello?', '--home', home]);
    const { stdout, stderr } = await runInProcess(['wake', '--session', sessionId, '--home', home]);
    expect(stdout + stderr).toContain(OLD);
  });

  it('is asked once, and again when its file has changed', async () => {
    const command = await program('3.4.5');
    const place = { command, directory: folder.path, environment: process.env };
    expect([await programVersion(place), await programVersion(place)]).toEqual(['3.4.5', '3.4.5']);
    expect(await asked(command)).toBe(1);
    await utimes(command, 1, 1);
    await programVersion(place);
    expect(await asked(command)).toBe(2);
  });

  it('is unknown where there is no program, or it says none', async () => {
    const place = { directory: folder.path, environment: { PATH: `relative:${folder.path}` } };
    expect(await programVersion({ ...place, command: 'not-there' })).toBeUndefined();
    expect(await programVersion({ ...place, command: 'claude-1.0.2' })).toBe('1.0.2');
    expect(await programVersion({ ...place, command: '/bin/false' })).toBeUndefined();
  });

  it('is compared number by number', () => {
    expect(versionIn('codex-cli 0.171.0\n')).toBe('0.171.0');
    expect(untriedVersion('codex', '0.9.999')).toContain('older');
    expect(untriedVersion('codex', '0.1710.0')).toContain('newer');
    expect(untriedVersion('codex', TRIED_PROGRAMS.codex.newest)).toBeUndefined();
  });

  it('is that of a program that is known by its family or by its name', () => {
    const acp = (command: string) => triedProgramOf({ backend: 'acp', program: { command, args: ['acp'] } });
    expect([acp('/opt/bin/opencode'), acp('gemini'), acp('toString'), acp('goose')]).toEqual([
      'opencode',
      'gemini',
      undefined,
      undefined,
    ]);
    const claude = { backend: 'cli-agent', dialect: 'claude' } as const;
    expect(triedProgramOf({ ...claude, program: { command: 'my-claude' } })).toBe('claude');
    expect(triedProgramOf({ ...claude, program: { command: 'node', args: ['claude.mjs'] } })).toBeUndefined();
  });
});
