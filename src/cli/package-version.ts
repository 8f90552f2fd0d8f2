/** Which version this is. */
import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  // The same distance from sources and from what they are compiled to.
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return manifest.version;
}
