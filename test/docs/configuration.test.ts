import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configurationPage } from './configuration.ts';
import { BETWEEN_PROCESSES, ENVIRONMENT_VARIABLES } from './environment-variables.ts';
import { SRC, sourceFiles } from './error-sites.ts';
import { checkout } from './pages.ts';

describe('the page about configuration', () => {
  /** Brought up to date with `npx vitest run test/docs/configuration.test.ts --update`. */
  it('says what schemas and option types say', async () => {
    await expect(configurationPage()).toMatchFileSnapshot(join(checkout, 'docs/configuration.md'));
  });

  it('has every variable of ours that the source names, unless only our own processes set it', () => {
    const named = sourceFiles().flatMap((file) =>
      [...readFileSync(join(SRC, file), 'utf8').matchAll(/\bWAKECHART_[A-Z\d_]*[A-Z]\b/g)].map(([name]) => name),
    );
    const known = ENVIRONMENT_VARIABLES.map(({ name }) => name).filter((name) => name.startsWith('WAKECHART_'));
    expect([...new Set(named)].toSorted()).toEqual([...known, ...BETWEEN_PROCESSES].toSorted());
  });

  it('says of everything what it is', () => {
    const mute = configurationPage()
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
      .filter(([, , , , text, guide]) => text === '' && guide !== undefined && guide.startsWith('['))
      .map(([, name]) => name);
    expect(mute).toEqual([]);
  });
});
