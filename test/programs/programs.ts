/**
 * The real programs that the tests of this folder run: where they lie, and how a test that needs one is written.
 * `node scripts/programs.mjs` installs them, where the registry answers. Tests of one that is missing are skipped, and
 * counted.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { temporaryHome } from '../support/temporary-home.ts';

export type ProgramName =
  | 'claude'
  | 'codex'
  | 'opencode'
  | 'gemini'
  | 'claude-agent-acp'
  | 'mcp-memory'
  | 'mcp-sequential-thinking'
  | 'mcp-playwright'
  | 'mcp-context7';

interface Pinned {
  readonly package: string;
  readonly version: string;
  readonly bin: string;
}

const FOLDER = fileURLToPath(new URL('../../.build/programs', import.meta.url));

/** In which version each program is run. */
export const PINNED = JSON.parse(readFileSync(new URL('versions.json', import.meta.url), 'utf8')) as Readonly<
  Record<ProgramName, Pinned>
>;

/** The program as a file that can be started. */
export function programFile(name: ProgramName): string {
  return join(FOLDER, name, 'node_modules/.bin', PINNED[name].bin);
}

/** A suite that needs a program. */
export function describeProgram(name: ProgramName, suite: () => void): void {
  const { package: program, version } = PINNED[name];
  describe.skipIf(!existsSync(programFile(name)))(`${program} ${version}`, () => {
    suite();
  });
}

/**
 * A home and a temporary folder of the program's own, so that it finds nothing of this machine's user and leaves
 * nothing behind. Offline: each program is told where its model server is besides.
 */
export async function programHome(): Promise<ProgramHome> {
  const home = await temporaryHome();
  const temporary = join(home.path, 'tmp');
  await mkdir(temporary);
  const { PATH = '' } = process.env;
  return {
    path: home.path,
    environment: { PATH, HOME: home.path, TMPDIR: temporary, TZ: 'UTC', LANG: 'C.UTF-8' },
    [Symbol.asyncDispose]: () => home.remove(),
  };
}

export interface ProgramHome extends AsyncDisposable {
  readonly path: string;
  /** All that the program gets of this process's environment. */
  readonly environment: Readonly<Record<string, string>>;
}
