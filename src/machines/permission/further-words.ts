/**
 * Which words may follow those of a rule that allows, so that the command is still what the rule says. What follows a
 * rule for a command that only reads may only make it another one that only reads. For other programs each option and
 * each operand that may follow stands in a table; of a program that is not in it, a rule covers its own words and
 * nothing more: it may write what one word more names.
 */
import { plainArgv, nameWithoutVersion } from './command-name.ts';
import { isInterpreter } from './command-power.ts';
import { safetyOf } from './safe-commands.ts';
import { hasSecretName, leadsOut, looksLikeShell } from './sensitive-path.ts';

interface FurtherUse {
  /** As they are written, without a value. */
  readonly options: readonly string[];
  readonly optionForm?: RegExp;
  /** Options whose value can do no harm, whatever it is; it comes after `=` or as the next word. */
  readonly texts: readonly string[];
  /**
   * What further operands may be: paths and names from the folder, for all of which the program does what the rule
   * says; `first`: one and no second; `after_first`: only where the rule itself names the first. That is a repository:
   * where no remote has its name, git takes a folder for it and runs the hooks in there.
   */
  readonly operands: 'none' | 'inside' | 'first' | 'after_first';
  /**
   * Whether what comes after `--` goes to a script or to tests; `when_named`: only where the rule itself ends with
   * `--`.
   */
  readonly passesOn: 'never' | 'when_named' | 'always';
}

const COLORS = ['--no-color', '--color=never', '--color=always', '--color=auto'];
const LOUDNESS = ['-v', '-q', '--verbose', '--quiet'];

const NOTHING: FurtherUse = { options: [], texts: [], operands: 'none', passesOn: 'never' };
const FILES: FurtherUse = { ...NOTHING, operands: 'inside' };
const SCRIPT_FILE: FurtherUse = { ...FILES, options: [...LOUDNESS, ...COLORS, '--help', '--version'] };

const BUILDS_TARGETS: FurtherUse = {
  ...NOTHING,
  options: ['-q', '-s', '-k', '--quiet', '--silent', '--keep-going', ...COLORS],
  optionForm: /^-j\d{0,3}$/,
};
/** For these `-s` names a file: without one, ant searches for it in all folders above. */
const BUILDS_QUIETLY: FurtherUse = { ...NOTHING, options: ['-q'] };
const INSTALLS: FurtherUse = { ...NOTHING, options: ['-q', '--quiet', '--verbose', '--silent', '-s', ...COLORS] };
const SCRIPTS: FurtherUse = { ...INSTALLS, passesOn: 'when_named' };
const TESTS_OF_SCRIPTS: FurtherUse = { ...INSTALLS, operands: 'inside', passesOn: 'always' };
const GIT_FILES: FurtherUse = { ...FILES, options: [...LOUDNESS, ...COLORS] };
const GIT_REMOTE: FurtherUse = { ...GIT_FILES, operands: 'after_first' };
const CARGO: FurtherUse = {
  ...NOTHING,
  options: [
    ...LOUDNESS,
    ...COLORS,
    '--release',
    '--workspace',
    '--all',
    '--lib',
    '--locked',
    '--offline',
    '--no-fail-fast',
  ],
};
const GO: FurtherUse = {
  ...FILES,
  options: ['-v', '-x', '-race', '-short', '-failfast', '-cover'],
  texts: ['-run', '-count', '-timeout', '-bench'],
};

/**
 * What may go to a script behind `--`: what chooses among tests and says how loud they are. Other options of test
 * runners and of programs that build name files to write (`--outputFile`, `--logfile`) or code to load (`--config`,
 * `--require`).
 */
const PASSED_ON: FurtherUse = {
  ...FILES,
  options: [
    ...[
      ...LOUDNESS,
      ...COLORS,
      '--color',
      '--colors',
      '--run',
      '--watch=false',
      '--watchAll=false',
      '--no-watch',
      '--coverage',
      '--no-coverage',
      '--silent',
      '--bail',
      '--fix',
      '--runInBand',
      '--passWithNoTests',
    ],
    ...[
      '--nocapture',
      '--no-capture',
      '--show-output',
      '--exact',
      '--ignored',
      '--include-ignored',
      '--only-changed',
      '--changed',
      '--findRelatedTests',
    ],
  ],
  optionForm:
    /^--(?:reporter=(?:default|basic|verbose|dot|spec|tap|min|list)|(?:bail|retry|maxWorkers|test-threads|testTimeout|timeout)=\d{1,6})$/,
  texts: ['-t', '--testNamePattern', '--grep'],
};

const entries = (names: string, use: FurtherUse): [string, FurtherUse][] => names.split(',').map((name) => [name, use]);

/** By the name of the program, with its subcommand where that matters. */
const FURTHER_USES: ReadonlyMap<string, FurtherUse> = new Map([
  ...entries('git add,git merge,git cherry-pick,git revert,git restore', GIT_FILES),
  // A second operand is another matter: files that are overwritten from the first, or the branch that is changed.
  ...entries('git checkout,git switch,git rebase', { ...GIT_FILES, operands: 'first' }),
  ...entries('git commit', { ...GIT_FILES, texts: ['-m', '--message'] }),
  ...entries('git fetch,git pull', GIT_REMOTE),
  ...entries('git push', {
    ...GIT_REMOTE,
    options: [...GIT_REMOTE.options, '-u', '--set-upstream', '-n', '--dry-run', '--porcelain'],
  }),
  ...entries('npm,pnpm,yarn,bun,pip,uv,poetry,gem,composer,brew,apt,apt-get', INSTALLS),
  ...entries('npm run,npm run-script,pnpm run,yarn run,bun run', SCRIPTS),
  ...entries('npm test,npm t,pnpm test,yarn test', TESTS_OF_SCRIPTS),
  ...entries('bun test', { ...FILES, options: COLORS }),
  ...entries('cargo', CARGO),
  ...entries('cargo test,cargo bench', { ...CARGO, operands: 'inside', passesOn: 'always' }),
  ...entries('go test,go build,go vet,go fmt', GO),
  ...entries('pytest,py.test', {
    ...FILES,
    options: [...LOUDNESS, ...COLORS, '-vv', '-x', '-s', '-l', '--lf', '--ff'],
  }),
  ...entries('unittest', { ...NOTHING, options: ['-v', '-q', '-f', '-b'] }),
  // They are given what they check.
  ...entries(
    'vitest run,jest,mocha,eslint,oxlint,mypy,ruff check,flake8,pylint,shellcheck,docker build,podman build',
    FILES,
  ),
  ...entries('ant,mvn,mvnw,dotnet', BUILDS_QUIETLY),
  ...entries(
    'make,gmake,ninja,just,task,rake,gradle,gradlew,bazel,cmake,tox,nox,invoke,grunt,gulp,scons,meson,deno',
    BUILDS_TARGETS,
  ),
]);

/** Whether all that comes after a prefix leaves the command what its beginning says. */
export function areCovered(argv: readonly string[], prefixLength: number): boolean {
  if (argv.length === prefixLength) return true;
  const prefix = argv.slice(0, prefixLength);
  if (safetyOf({ argv: prefix }).safe) return safetyOf({ argv }).safe;
  const use = useOf(argv, prefixLength);
  // An option of the rule that is not known may take the next word, or make operands of another kind of all that
  // follow.
  return areKnownOptions(use, prefix) && areKnownWords(use, argv, prefixLength);
}

function areKnownOptions(use: FurtherUse, prefix: readonly string[]): boolean {
  const end = use.passesOn === 'never' ? -1 : prefix.indexOf('--');
  const own = prefix.slice(isModule(prefix) ? 3 : 1, end === -1 ? prefix.length : end);
  return areHarmless(use, own) && (end === -1 || areHarmless(PASSED_ON, prefix.slice(end + 1)));
}

function areHarmless(use: FurtherUse, words: readonly string[]): boolean {
  return words.every(
    (word, at) => !word.startsWith('-') || isHarmless(use, word) || takesText(use, words[at - 1] ?? ''),
  );
}

function areKnownWords(use: FurtherUse, argv: readonly string[], prefixLength: number): boolean {
  let isPassedOn = use.passesOn !== 'never' && argv.slice(1, prefixLength).includes('--');
  let isValue = takesText(isPassedOn ? PASSED_ON : use, argv[prefixLength - 1] ?? '');
  for (let at = prefixLength; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    const known = isPassedOn ? PASSED_ON : use;
    if (isValue) {
      if (word.startsWith('-')) return false;
      isValue = false;
    } else if (word === '--' && !isPassedOn) {
      if (use.passesOn !== 'always') return false;
      isPassedOn = true;
    } else if (word.startsWith('-')) {
      if (!isHarmless(known, word)) return false;
      isValue = takesText(known, word);
    } else if (isPassedOn) {
      if (!staysInside(word)) return false;
    } else if (!isPlainOperand(use, argv, { at, prefixLength })) {
      return false;
    }
  }
  return true;
}

function isModule([, option, module]: readonly string[]): boolean {
  return option === '-m' && module !== undefined;
}

function useOf(argv: readonly string[], prefixLength: number): FurtherUse {
  const [program = '', second = '', third = ''] = plainArgv(argv);
  if (isModule(plainArgv(argv))) return FURTHER_USES.get(third) ?? NOTHING;
  const name = FURTHER_USES.has(program) ? program : nameWithoutVersion(program);
  const listed = FURTHER_USES.get(`${name} ${second}`) ?? FURTHER_USES.get(name);
  if (listed !== undefined) return listed;
  // A rule that names a script and none of its operands is for any of them.
  if (name === 'go' && second === 'run') return prefixLength === 3 && !third.startsWith('-') ? FILES : NOTHING;
  return isInterpreter(program) && prefixLength === 2 && !second.startsWith('-') ? SCRIPT_FILE : NOTHING;
}

function isHarmless({ options, optionForm, texts }: FurtherUse, word: string): boolean {
  return (
    options.includes(word) ||
    optionForm?.test(word) === true ||
    texts.includes(word) ||
    texts.some((option) => word.startsWith(`${option}=`))
  );
}

function takesText({ texts }: FurtherUse, word: string): boolean {
  return texts.includes(word);
}

interface OperandPlace {
  readonly at: number;
  readonly prefixLength: number;
}

/**
 * A name or a path that does not lead out, means other paths, sets a variable, forces or names a list of further words.
 */
function isPlainOperand(
  { operands }: FurtherUse,
  argv: readonly string[],
  { at, prefixLength }: OperandPlace,
): boolean {
  const word = argv[at] ?? '';
  if (
    operands === 'none' ||
    word === '' ||
    /^[+@!]/.test(word) ||
    setsVariable(word) ||
    leadsOut(word) ||
    looksLikeShell(word)
  )
    return false;
  const plain = plainArgv(argv);
  // For these it is another machine, though it looks like a folder.
  if (/^(?:docker|podman)$/.test(plain[0] ?? '') && /^(?:github\.com\/|git@)/.test(word)) return false;
  // `a::b` is the name of a test; for git, of a program.
  if (word.includes(':') && (plain[0] === 'git' || !/^[^:]+(?:::[^:]+)+$/.test(word))) return false;
  if (operands === 'inside') return true;
  const before = plain.slice(2, (operands === 'first' ? at : prefixLength) + plain.length - argv.length);
  return before.some((each) => !each.startsWith('-')) === (operands === 'after_first');
}

function setsVariable(word: string): boolean {
  return /^[^/]*=/.test(word);
}

/**
 * For operands that go to a script: whatever they are for, they name nothing elsewhere, no secret and nothing that git
 * runs.
 */
function staysInside(word: string): boolean {
  return !setsVariable(word) && !leadsOut(word) && !hasSecretName(word) && !word.includes('://');
}
