/** Programs of agents in versions that were not tried: what the doctor, the check of an agent file and a failure say. */
import { chmod, mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programVersion } from '../../src/adapters/system/program-version.ts';
import { TRIED_PROGRAMS, triedProgramOf, untriedVersion, versionIn } from '../../src/machines/run/tried-programs.ts';
import type { TriedProgramName } from '../../src/machines/run/tried-programs.ts';
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

/** An old one that answers whatever it is given with words of its own, and is content with that. */
async function politeProgram(): Promise<string> {
  const file = join(folder.path, 'polite');
  const script = '#!/bin/sh\necho started >> "$0.asked"\necho "claude 0.1.7: type help for help"\n';
  await writeFile(file, script, { mode: 0o755 });
  return file;
}

/** One that was tried, and has something else to say this time. */
async function updatedProgram(): Promise<string> {
  const file = join(folder.path, 'updated');
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo "${newest} (Claude Code)" || echo "Updated, start it again"\n`;
  await writeFile(file, script, { mode: 0o755 });
  return file;
}

const agentFile = (provider: string): string =>
  `---\nname: Helper\nprovider: ${provider}\nmodel: default\n---\n\nHelp.\n`;
const asked = async (file: string): Promise<number> => (await readFile(`${file}.asked`, 'utf8')).split('\n').length - 1;

interface Warning {
  readonly line: number;
  readonly message: string;
}

async function warnings(provider: string): Promise<readonly Warning[]> {
  const file = join(folder.path, `${provider}.md`);
  const { stdout } = await runInProcess(['agent', 'validate', file, '--home', home, '--json']);
  return (JSON.parse(stdout) as { readonly warnings: readonly Warning[] }).warnings;
}

const warningsOf = async (provider: string): Promise<readonly string[]> =>
  (await warnings(provider)).map(({ message }) => message);

beforeAll(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'home');
  await mkdir(home, { mode: 0o700 });
  const settings = async (version: string): Promise<object> => ({
    backend: 'cli-agent',
    dialect: 'claude',
    program: { command: await program(version) },
  });
  const providers = {
    old: await settings('1.0.2'),
    current: await settings(newest),
    next: await settings('99.0.0'),
    vague: await settings('latest'),
    missing: { backend: 'cli-agent', dialect: 'claude', program: { command: 'no-such-claude' } },
    stranger: { backend: 'acp', program: { command: 'no-such-agent', args: ['acp'] } },
    known: { backend: 'acp', program: { command: '/bin/cat' } },
    polite: { backend: 'cli-agent', dialect: 'claude', program: { command: await politeProgram() } },
    updated: { backend: 'cli-agent', dialect: 'claude', program: { command: await updatedProgram() } },
  };
  // JSON is YAML.
  await writeFile(join(home, 'providers.yaml'), JSON.stringify(providers));
  for (const provider of Object.keys(providers))
    await writeFile(join(folder.path, `${provider}.md`), agentFile(provider));
});
afterAll(() => folder.remove());

describe('a program in a version', () => {
  it('that is older or newer than those that were tried is told by the check of an agent file', async () => {
    const line = 3;
    expect(await warnings('old')).toEqual([{ line, message: expect.stringContaining(OLD) as string }]);
    expect(await warnings('next')).toEqual([
      { line, message: expect.stringContaining('Claude Code 99.0.0 is newer than') as string },
    ]);
    expect(await warnings('current')).toEqual([]);
    expect(await warnings('known')).toEqual([]);
  });

  it('that cannot be read, or that is not there, is told by it too, with what to do', async () => {
    expect(await warningsOf('vague')).toEqual([
      `provider: the version of Claude Code cannot be read (${folder.path}/claude-latest --version): it printed "latest (Claude Code)", and it ended with exit code 0`,
    ]);
    expect(await warningsOf('missing')).toEqual([
      'provider: there is no program "no-such-claude" here: install Claude Code (npm install -g @anthropic-ai/claude-code), or set program.command of the provider "missing" to where it is',
    ]);
    expect(await warningsOf('stranger')).toEqual([expect.stringContaining('"no-such-agent" here: install it, or')]);
  });

  it('that was not tried is a note of the doctor, and a home is healthy with it', async () => {
    for (const name of ['old', 'current', 'vague', 'missing'])
      await runInProcess(['agent', 'create', name, '--from', join(folder.path, `${name}.md`), '--home', home]);
    const { code, stdout } = await runInProcess(['doctor', '--home', home, '--json']);
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly Readonly<Record<string, unknown>>[] };
    expect(code).toBe(0);
    const told = findings.filter(({ area }) => area === 'programs');
    const notes = ['there is no program "no-such-claude" here: install Claude Code', OLD, 'cannot be read'];
    expect(told).toHaveLength(notes.length);
    for (const words of notes)
      expect(told).toContainEqual(
        expect.objectContaining({ severity: 'note', what: expect.stringContaining(words) as string }),
      );
  });

  const woken = async (agent: string): Promise<string> => {
    const made = await runInProcess(['session', 'create', '--agent', agent, '--home', home, '--json']);
    const { sessionId } = JSON.parse(made.stdout) as { readonly sessionId: string };
    await runInProcess(['session', 'send', '--session', sessionId, '--message', 'Hello?', '--home', home]);
    const { stdout, stderr } = await runInProcess(['wake', '--session', sessionId, '--home', home]);
    return stdout + stderr;
  };

  it('that was not tried is named where it ends without a result', async () => {
    const text = await woken('old');
    expect(text).toContain(OLD);
    expect(text).toContain(`Use a version of Claude Code that was tried: ${newest}`);
  });

  it('that answers in words of its own and ends well is not asked again, and the versions that were tried are named', async () => {
    await runInProcess(['agent', 'create', 'polite', '--from', join(folder.path, 'polite.md'), '--home', home]);
    // The check of the file has asked for its version.
    const before = await asked(join(folder.path, 'polite'));
    const text = await woken('polite');
    expect(text).toContain('are no messages, the last is: claude 0.1.7: type help for help');
    expect(text).toContain('Claude Code 0.1.7 is older than');
    expect(text).toContain('[BACKEND_NOT_UNDERSTOOD]');
    expect(text).toContain(`Use a version of Claude Code that was tried: ${newest}`);
    expect(await asked(join(folder.path, 'polite'))).toBe(before + 1);
  });

  it('that was tried is tried again, whatever it said', async () => {
    await runInProcess(['agent', 'create', 'updated', '--from', join(folder.path, 'updated.md'), '--home', home]);
    const text = await woken('updated');
    expect(text).toContain('are no messages, the last is: Updated, start it again');
    expect(text).toContain('[RUN_FAILED]');
  });

  it('is asked once, and again when its file has changed', async () => {
    const command = await program('3.4.5');
    const place = { command, directory: folder.path, environment: process.env };
    const told = { kind: 'told', version: '3.4.5' };
    expect([await programVersion(place), await programVersion(place)]).toEqual([told, told]);
    expect(await asked(command)).toBe(1);
    await utimes(command, 1, 1);
    await programVersion(place);
    expect(await asked(command)).toBe(2);
  });

  it('is unknown where there is no program, or it says none', async () => {
    const place = { directory: folder.path, environment: { PATH: `relative:${folder.path}` } };
    const missing = { kind: 'missing' };
    expect(await programVersion({ ...place, command: 'not-there' })).toEqual(missing);
    expect(await programVersion({ ...place, command: folder.path })).toEqual(missing);
    expect(await programVersion({ ...place, command: 'claude-1.0.2' })).toEqual({ kind: 'told', version: '1.0.2' });
    await writeFile(join(folder.path, 'silent'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect(await programVersion({ ...place, command: 'silent' })).toEqual({
      kind: 'unreadable',
      because: 'it printed nothing, and it ended with exit code 1',
    });
    await writeFile(join(folder.path, 'no-program'), '#!/no/such/shell\n', { mode: 0o755 });
    expect(await programVersion({ ...place, command: 'no-program' })).toEqual({
      kind: 'unreadable',
      because: 'it printed nothing, and it cannot be started (ENOENT)',
    });
  });

  it('of which there are recordings is one that was tried', async () => {
    const recorded = fileURLToPath(new URL('../fixtures/recorded', import.meta.url));
    const files = (await readdir(recorded, { recursive: true })).filter((file) => file.endsWith('.jsonl'));
    const untried = await Promise.all(
      files.map(async (file) => {
        const [first = ''] = (await readFile(join(recorded, file), 'utf8')).split('\n');
        const { program: name, version } = JSON.parse(first) as { program: TriedProgramName; version: string };
        return untriedVersion(name, version);
      }),
    );
    expect(untried.filter((each) => each !== undefined)).toEqual([]);
    expect(new Set(files.map((file) => dirname(file)))).toEqual(new Set(Object.keys(TRIED_PROGRAMS)));
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
