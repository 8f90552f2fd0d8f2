import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PINNED, describeProgram, programFile, programHome } from './programs.ts';
import type { ProgramName } from './programs.ts';

for (const name of ['claude', 'codex', 'opencode', 'gemini'] satisfies ProgramName[])
  describeProgram(name, () => {
    it('is there, in the version that is pinned', async () => {
      const home = await programHome();
      const { stdout } = await promisify(execFile)(programFile(name), ['--version'], { env: home.environment });
      await home[Symbol.asyncDispose]();
      expect(stdout).toContain(PINNED[name].version);
    });
  });
