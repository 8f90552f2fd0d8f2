import { afterAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS, problemsOf, removeFolders, running } from './running-pages.ts';

afterAll(removeFolders);

describe.concurrent('the code in', { timeout: 2 * PATIENCE_MS }, () => {
  it.each(running)('%s runs as it stands, from top to bottom, and prints what the page says', async (path) => {
    expect(await problemsOf(path)).toEqual([]);
  });
});

it('pages that show how to do something show code that runs', () => {
  expect(running).toEqual(
    expect.arrayContaining([
      'README.md',
      'docs/background-tasks.md',
      'docs/sessions.md',
      'docs/command-line.md',
      'docs/processes.md',
      'docs/backends.md',
      'docs/subagents.md',
      'docs/walk-through.md',
      'docs/environments.md',
      'docs/vaults.md',
      'docs/memory.md',
      'docs/outcomes.md',
      'docs/skills.md',
      'docs/retrieval.md',
      'docs/import.md',
      'docs/sandbox.md',
      'docs/charts.md',
      'docs/testing-charts.md',
      'docs/inspector.md',
      'docs/postgres.md',
    ]),
  );
});
