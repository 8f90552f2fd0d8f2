/** Pages whose code is many commands, run as they stand. */
import { afterAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS, longPages, problemsOf, removeFolders } from './running-pages.ts';

afterAll(removeFolders);

describe.concurrent('the code in', { timeout: 2 * PATIENCE_MS }, () => {
  it.each(longPages)('%s runs as it stands, from top to bottom, and prints what the page says', async (path) => {
    expect(await problemsOf(path)).toEqual([]);
  });
});
