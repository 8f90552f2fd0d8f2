/**
 * The names of the files that tell an agent of its session. They are the runtime's: made anew whatever is in them, and
 * no part of what an agent may hold.
 */
const SUBJECTS = [
  'index',
  'environment',
  'mounts',
  'tools',
  'vaults',
  'context',
  'outcome',
  'permissions',
  'shells',
  'events',
  'traces',
  'relations',
];

export const ARTIFACT_NAMES: ReadonlySet<string> = new Set([
  'last-shell-output.txt',
  ...SUBJECTS.flatMap((subject) => ['md', 'json', 'jsonl'].map((extension) => `${subject}.${extension}`)),
]);
