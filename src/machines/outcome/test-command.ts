/**
 * Commands that run the tests of a project, told by their words alone: which of them run all tests, and which only
 * some.
 */

/**
 * By the words that they begin with. Programs of the workspace itself are none: the agent that works there may have
 * written them.
 */
const TEST_COMMANDS: readonly (readonly string[])[] = [
  ['npm', 'test'],
  ['npm', 't'],
  ['npm', 'run', 'test'],
  ['pnpm', 'test'],
  ['pnpm', 'run', 'test'],
  ['yarn', 'test'],
  ['yarn', 'run', 'test'],
  ['bun', 'test'],
  ['bun', 'run', 'test'],
  ['node', '--test'],
  ['deno', 'test'],
  ['vitest', 'run'],
  ['npx', 'vitest', 'run'],
  ['jest'],
  ['npx', 'jest'],
  ['mocha'],
  ['npx', 'mocha'],
  ['pytest'],
  ['python', '-m', 'pytest'],
  ['python3', '-m', 'pytest'],
  ['python', '-m', 'unittest'],
  ['python3', '-m', 'unittest'],
  ['tox'],
  ['go', 'test', './...'],
  ['go', 'test'],
  ['cargo', 'test'],
  ['make', 'test'],
  ['make', 'check'],
  ['mvn', 'test'],
  ['gradle', 'test'],
  ['dotnet', 'test'],
  ['mix', 'test'],
  ['rspec'],
  ['bundle', 'exec', 'rspec'],
  ['rake', 'test'],
  ['bundle', 'exec', 'rake', 'test'],
  ['ctest'],
  ['phpunit'],
  ['composer', 'test'],
  ['swift', 'test'],
];

/**
 * Options that change what is said and not what is run, for all of them. `-v` is not one: it makes npm and node tell
 * their version, and run nothing.
 */
const TALK_OPTIONS: ReadonlySet<string> = new Set(['--silent', '--quiet', '--verbose']);

/**
 * Programs that take words without a dash for names of tests, and do nothing else with them. For make they are more
 * work to do.
 */
const CHOOSERS: ReadonlySet<string> = new Set([
  'npm test',
  'npm t',
  'npm run test',
  'pnpm test',
  'pnpm run test',
  'yarn test',
  'yarn run test',
  'bun test',
  'bun run test',
  'vitest run',
  'npx vitest run',
  'jest',
  'npx jest',
  'mocha',
  'npx mocha',
  'pytest',
  'python -m pytest',
  'python3 -m pytest',
]);

export interface TestCommand {
  /**
   * The words that say which tests these are, without options: what `npm test` and `npm test -- one.test.js` have in
   * common.
   */
  readonly suite: string;
  /** Whether it runs all of them: no word more than that. Any other may choose tests, or run none. */
  readonly isWhole: boolean;
  /**
   * Whether all that it does is to run tests, all of them or some. Options may make it do more, such as to write down
   * what it expects from then on.
   */
  readonly onlyTests: boolean;
}

/** @param argv as the program gets them; the name must be found by PATH */
export function testCommandOf(argv: readonly string[]): TestCommand | undefined {
  const found = TEST_COMMANDS.filter((words) => words.every((word, index) => argv[index] === word)).toSorted(
    (one, other) => other.length - one.length,
  )[0];
  if (found === undefined) return undefined;
  const suite = found.join(' ');
  const rest = argv.slice(found.length).filter((word) => !TALK_OPTIONS.has(word));
  const isWhole = rest.length === 0;
  return {
    suite,
    isWhole,
    onlyTests: isWhole || (CHOOSERS.has(suite) && rest.every((word) => word === '--' || !word.startsWith('-'))),
  };
}

const NOTHING_TESTED =
  /\bno tests?\b|\bno test files\b|\b(?:ran|running|tests?:?|total:?) +0\b|\b0 (?:tests?|passing|examples?|specs?|assertions?|total)\b|\bno specs?\b/i;
const SOMETHING_TESTED =
  /(?:^|[^\d.])[1-9]\d* (?:tests?|passed|passing|examples?|specs?|assertions?)\b|\b(?:tests?|pass|passed|total):? +[1-9]|^ok +[1-9]|^ok\s+\S+\s+[\d.]+m?s/im;

/** Whether the output of a test run says that there was nothing to test: several programs exit with 0 then. */
export function saysNothingTested(output: string): boolean {
  return NOTHING_TESTED.test(output) && !SOMETHING_TESTED.test(output);
}
