/**
 * Test files that need a sandbox or mounts, which take nothing in /dev: their temporary folder is on the disk, also
 * where they share a process with files that have theirs in memory.
 */
const ON_DISK: readonly string[] = [
  'actors/environment/session-environments',
  'actors/shell/shell-exports',
  'actors/shell/shell-restoring',
  'actors/shell/shell-sandbox',
  'adapters/bubblewrap/',
  'adapters/environment-files/file-mount-places',
  'cli/env',
  'cli/stuck-homes-processes',
  'cli/wake-processes',
  'properties/descendants',
  'scenarios/bounds/delegated-in-sandbox',
  'scenarios/improvement/mcp-in-sandbox',
];

/** @param testPath absolute, with forward slashes */
export function isOnDisk(testPath: string): boolean {
  return ON_DISK.some((name) => testPath.includes(name.endsWith('/') ? `/test/${name}` : `/test/${name}.test.ts`));
}
