/** The written audits of our charts. Brought up to date with `npm run build && node dist/cli/main.js audit --write`. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { charts } from '../../src/machines/inspection/chart-catalog.ts';
import { runInProcess } from '../cli/in-process.ts';
import { checkout, pages, readPage } from './pages.ts';

const audits = join(checkout, 'docs/audits');

describe('the written audits', () => {
  it('say what the charts do, and no chart has an error that nobody gave a reason for', async () => {
    const { code, stdout, stderr } = await runInProcess(['audit', '--check', '--out', audits]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `${charts.length} charts, and ${audits} says what they do.\n`,
      stderr: '',
    });
  });

  it('hold no path of a machine and no time', () => {
    const telling = readdirSync(audits).filter((name) =>
      /\/(?:home|root|work|tmp|Users)\/|\b20\d\d-\d\d-\d\dT/.test(readFileSync(join(audits, name), 'utf8')),
    );
    expect(telling).toEqual([]);
  });

  it('are shown and linked where each lifecycle is explained', () => {
    const explained = pages
      .filter((path) => !path.startsWith('docs/audits/') && path.startsWith('docs/'))
      .map(readPage)
      .join('\n');
    expect(
      charts
        .filter(({ machine }) => !explained.includes(`](audits/${machine.id}.md)`))
        .map(({ machine }) => machine.id),
    ).toEqual([]);
  });
});
