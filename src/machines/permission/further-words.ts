/**
 * Which words may follow those of a rule that allows, so that the command is still what the rule says: plain operands where a program takes
 * them, and options that are known to be harmless. An option that nobody has looked at is not covered: programs have too many ways to
 * run, read or write something else with one more.
 */
import { nameWithoutVersion, plainArgv } from './command-name.ts';
import { leadsOut } from './sensitive-path.ts';

interface FurtherUse {
  /** As they are written, without a value. */
  readonly options?: readonly string[];
  readonly optionForm?: RegExp;
  /** Options whose value can do no harm, whatever it is; it comes after `=` or as the next word. */
  readonly texts?: readonly string[];
  /** Whether further operands are covered. Default: they are. */
  readonly operands?: 'none' | 'first_is_name';
  /** Whether what comes after `--` goes to a script or to tests; `when_named`: only where the rule itself ends with `--`. */
  readonly passesOn?: 'always' | 'when_named';
}

const COLORS = ['--no-color', '--color=never', '--color=always', '--color=auto'];
const LOUDNESS = ['-v', '-q', '--verbose', '--quiet'];

const ANY_PROGRAM: FurtherUse = { options: [...LOUDNESS, ...COLORS, '--help', '--version'] };

const BUILDS_TARGETS: FurtherUse = { options: ['-q', '-s', '-k', '--quiet', '--silent', '--keep-going', ...COLORS], optionForm: /^-j\d{0,3}$/, operands: 'none' };
const INSTALLS: FurtherUse = { options: ['-q', '--quiet', '--verbose', '--silent', '-s', ...COLORS], operands: 'none' };
const SCRIPTS: FurtherUse = { ...INSTALLS, passesOn: 'when_named' };
const TESTS_OF_SCRIPTS: FurtherUse = { options: INSTALLS.options ?? [], passesOn: 'always' };
const GIT_OPTIONS = [...LOUDNESS, ...COLORS];
const GIT_REMOTE: FurtherUse = { options: GIT_OPTIONS, operands: 'first_is_name' };
const CARGO_OPTIONS = [...LOUDNESS, ...COLORS, '--release', '--workspace', '--all', '--lib', '--locked', '--offline', '--no-fail-fast'];

const entries = (names: string, use: FurtherUse): [string, FurtherUse][] => names.split(',').map((name) => [name, use]);

/** By the name of the program, with its subcommand where that matters. */
const FURTHER_USES: ReadonlyMap<string, FurtherUse> = new Map([
  ...entries('git', { options: GIT_OPTIONS }),
  // There `-v` has signatures checked, by another program.
  ...entries('git tag', { options: [] }),
  ...entries('git commit', { options: GIT_OPTIONS, texts: ['-m', '--message'] }),
  ...entries('git fetch,git pull', GIT_REMOTE),
  ...entries('git push', { ...GIT_REMOTE, options: [...GIT_OPTIONS, '-u', '--set-upstream', '-n', '--dry-run', '--porcelain'] }),
  ...entries('npm,pnpm,yarn,bun,pip,uv,poetry,gem,composer,brew,apt,apt-get', INSTALLS),
  ...entries('npm run,npm run-script,pnpm run,yarn run,bun run', SCRIPTS),
  ...entries('npm test,npm t,pnpm test,yarn test', TESTS_OF_SCRIPTS),
  ...entries('bun test', { options: [...COLORS] }),
  ...entries('cargo', { options: CARGO_OPTIONS, operands: 'none' }),
  ...entries('cargo test,cargo bench', { options: CARGO_OPTIONS, passesOn: 'always' }),
  ...entries('go', { options: ['-v', '-x', '-race', '-short', '-failfast', '-cover'], texts: ['-run', '-count', '-timeout', '-bench'] }),
  ...entries('go get,go install', { options: ['-v'], operands: 'none' }),
  ...entries('pytest,py.test', { options: [...LOUDNESS, ...COLORS, '-vv', '-x', '-s', '-l', '--lf', '--ff'] }),
  ...entries('unittest', { options: ['-v', '-q', '-f', '-b'], operands: 'none' }),
  ...entries('make,gmake,ninja,just,task,rake,ant,mvn,mvnw,gradle,gradlew,dotnet,bazel,cmake,tox,nox,invoke,grunt,gulp,scons,meson,deno', BUILDS_TARGETS),
  // `-v` gives a container a folder.
  ...entries('docker,podman,nerdctl', { options: [] }),
]);

/** Whether all that comes after a prefix leaves the command what its beginning says. */
export function areCovered(argv: readonly string[], prefixLength: number): boolean {
  const use = useOf(argv);
  let isPassedOn = use.passesOn !== undefined && argv.slice(1, prefixLength).includes('--');
  let isValue = takesText(use, argv[prefixLength - 1] ?? '');
  for (let at = prefixLength; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (isPassedOn) {
      if (!staysInside(word)) return false;
    } else if (isValue) {
      if (word.startsWith('-')) return false;
      isValue = false;
    } else if (word === '--') {
      if (use.passesOn !== 'always') return false;
      isPassedOn = true;
    } else if (word.startsWith('-')) {
      if (!isHarmless(use, word)) return false;
      isValue = takesText(use, word);
    } else if (!isPlainOperand(use, argv, at)) {
      return false;
    }
  }
  return true;
}

/** Whether the words end with an option that may take the word that follows as its value. */
export function endsOpen(prefix: readonly string[]): boolean {
  const last = prefix.at(-1) ?? '';
  if (prefix.length < 2 || !last.startsWith('-')) return false;
  const use = useOf(prefix);
  return last === '--' ? use.passesOn === undefined : !isHarmless(use, last);
}

function useOf(argv: readonly string[]): FurtherUse {
  const [program = '', second = '', third = ''] = plainArgv(argv);
  const [name, subcommand] = second === '-m' ? [third, ''] : [FURTHER_USES.has(program) ? program : nameWithoutVersion(program), second];
  return FURTHER_USES.get(`${name} ${subcommand}`) ?? FURTHER_USES.get(name) ?? ANY_PROGRAM;
}

function isHarmless({ options = [], optionForm, texts = [] }: FurtherUse, word: string): boolean {
  return options.includes(word) || optionForm?.test(word) === true || texts.includes(word) || texts.some((option) => word.startsWith(`${option}=`));
}

function takesText({ texts = [] }: FurtherUse, word: string): boolean {
  return texts.includes(word);
}

/** A name or a path that does not lead out, means other paths, sets a variable, forces or names a list of further words. */
function isPlainOperand({ operands }: FurtherUse, argv: readonly string[], at: number): boolean {
  const word = argv[at] ?? '';
  if (operands === 'none' || word === '' || /^[+@!]/.test(word) || setsVariable(word) || leadsOut(word)) return false;
  const plain = plainArgv(argv);
  // `a::b` is the name of a test; for git, of a program.
  if (word.includes(':') && (plain[0] === 'git' || !/^[^:]+(?:::[^:]+)+$/.test(word))) return false;
  const before = plain.slice(2, at + plain.length - argv.length);
  return operands !== 'first_is_name' || before.some((each) => !each.startsWith('-')) || /^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(word);
}

function setsVariable(word: string): boolean {
  return /^[^/]*=/.test(word);
}

/** For words that go to a script: whatever they are for, they name nothing elsewhere. */
function staysInside(word: string): boolean {
  if (!word.startsWith('-')) return !setsVariable(word) && !leadsOut(word) && !word.includes('://');
  const value = word.slice(word.indexOf('=') + 1);
  return !leadsOut(word) && !leadsOut(value) && !/^-[A-Za-z][/~]/.test(word) && !word.includes('://');
}
