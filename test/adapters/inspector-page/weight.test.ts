/** How heavy the page is on its way to a browser: compressed, as the build leaves it for the server. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const MOST_BYTES = 120_000;
const page = new URL('../../../dist/inspector-page/', import.meta.url).pathname;

function compressedSizes(directory: string): Readonly<Record<string, number>> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith('.gz'),
  );
  return Object.fromEntries(files.map(({ name, parentPath }) => [name, statSync(join(parentPath, `${name}.gz`)).size]));
}

describe('the built page', () => {
  it(`weighs at most ${MOST_BYTES} bytes in all, compressed`, () => {
    const sizes = compressedSizes(page);
    expect(Object.keys(sizes)).toContain('index.html');
    const whole = Object.values(sizes).reduce((sum, size) => sum + size, 0);
    expect(whole > MOST_BYTES ? { whole, ...sizes } : 'light enough').toBe('light enough');
  });
});
