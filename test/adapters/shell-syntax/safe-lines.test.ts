/** What is allowed for being safe is run for real, in a real repository, which must be as it was afterwards. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileCommandPlaces } from '../../../src/adapters/command-places/file-command-places.ts';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { safetyOf } from '../../../src/machines/permission/safe-commands.ts';
import { corpus } from '../../machines/permission/corpus.ts';
import { decideLine } from '../../machines/permission/shell-questions.ts';

const hasGit = spawnSync('git', ['--version']).status === 0;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'safe-'));
  for (const name of ['src', 'test']) mkdirSync(join(folder, name));
  for (const name of [
    'a.txt',
    'b.txt',
    'a',
    'b',
    'a.csv',
    'a.bin',
    'log.txt',
    'README.md',
    'package.json',
    'src/a.ts',
    'src/b.ts',
    'test/a.ts',
  ])
    writeFileSync(join(folder, name), `${name}\nfunction a() {}\n`);
  const git = (...words: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {
      cwd: folder,
      stdio: 'ignore',
    });
  git('init', '-b', 'main');
  git('add', '.');
  git('commit', '-m', 'one');
  git('branch', 'feature');
  git('commit', '--allow-empty', '-m', 'two');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Every file with what it holds. Git writes down in its index what it has checked. */
function contents(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== join('.git', 'index') && statSync(join(folder, name)).isFile())
    .map(
      (name) =>
        `${name} ${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}`,
    )
    .toSorted();
}

describe.skipIf(process.platform === 'win32' || !hasGit)('every line of the corpus that is safe', () => {
  const safe = corpus
    .flatMap(({ lines }) => lines.map(([line]) => line))
    .filter((line) => {
      const decision = decideLine(line);
      return decision.decision === 'allow' && decision.by === 'safe_command';
    });

  it('has nothing against it in an ordinary repository', async () => {
    const places = new FileCommandPlaces();
    for (const line of safe) {
      const reading = readShell(line);
      const commands = reading.kind === 'commands' ? reading.commands : [];
      const checked = commands.flatMap((command) => {
        const safety = safetyOf(command);
        return safety.safe ? [{ argv: command.argv, paths: safety.paths, usesGit: safety.usesGit }] : [];
      });
      expect([
        line,
        await places.problem({ commands: checked, cwd: folder, workspaceDirectory: folder, forbidden: [] }),
      ]).toEqual([line, undefined]);
    }
  });

  it('leaves the folder as it was', () => {
    expect(safe.length).toBeGreaterThan(110);
    const before = contents();
    const script = mkdtempSync(join(tmpdir(), 'lines-'));
    try {
      for (const [index, line] of safe.entries()) writeFileSync(join(script, String(index)), line);
      const runs = safe.map((_, index) => `( . ${join(script, String(index))} )`);
      const { error, stdout } = spawnSync('/bin/sh', ['-c', [...runs, 'echo the end'].join('\n')], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'ignore'],
        encoding: 'utf8',
        timeout: 25_000,
      });
      expect(error).toBeUndefined();
      expect(stdout).toMatch(/the end\n$/);
    } finally {
      rmSync(script, { recursive: true });
    }
    expect(contents()).toEqual(before);
  });
});
