/** The words of `wakechart serve`. */
import { expect, it } from 'vitest';
import { runInProcess } from './in-process.ts';

it('say what the token is for, scrapers of /metrics included', async () => {
  const { code, stdout } = await runInProcess(['serve', 'http', '--help']);
  expect(code).toBe(0);
  expect(stdout.replace(/\s+/g, ' ')).toMatch(/scrapers of \/metrics, send as "Authorization: Bearer/);
});

it.each(['agent', '/agent/', '/', '', '/a b'])('refuse the base path %j with one that fits', async (path) => {
  const { code, stderr } = await runInProcess(['serve', 'http', '--base-path', path]);
  expect(code).toBe(2);
  expect(stderr).toContain('such as /agent');
  expect(stderr).not.toContain('authorize');
});
