/**
 * What a command can be turned into, as data: which commands run others, which ask for a subcommand before a rule can
 * mean anything, and which can only be allowed word for word.
 */
import { isOneOf, plainArgv } from './command-name.ts';
import { leadsOut } from './sensitive-path.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Run whatever they are given, or set what is run later. What they do cannot be told from their beginning. */
const RUNS_OTHERS = words(
  'env xargs sudo doas su runuser pkexec gosu su-exec wsl corepack sh bash rbash dash zsh ksh mksh fish csh tcsh ash busybox toybox eval exec command builtin source . nohup nice ionice chrt ' +
    'timeout gtimeout time stdbuf setsid setarch linux32 linux64 i386 x86_64 setpriv prlimit taskset numactl cgexec strace ltrace gdb lldb perf valgrind watch parallel script expect ' +
    'chroot unshare nsenter capsh flock entr at batch crontab systemd-run tini dumb-init ld.so hyperfine ' +
    'alias unalias export set unset trap hash enable declare typeset readonly read mapfile readarray shopt complete bind ' +
    'if then while until for case function ! { [ [[ coproc npx bunx uvx pipx screen tmux ssh-agent dbus-run-session xvfb-run faketime fakeroot proot firejail bwrap',
);

/** The dynamic linker runs the program that it is given. */
const DYNAMIC_LINKER = /^ld(?:-[a-z0-9_-]+)?\.so(?:\.\d+)?$/;

/**
 * Run a program that they are given by its name or as a file, so that a whole command of them says which; with the
 * words that may stand before that.
 */
const RUNS_WHAT_IT_NAMES: ReadonlyMap<string, RegExp> = new Map([
  ...['npx', 'bunx', 'uvx'].map((name): [string, RegExp] => [name, /^(?:-y|--yes|--no|--no-install)$/]),
  ['pipx', /^run$/],
  ...['sh', 'bash', 'dash', 'ksh', 'zsh'].map((name): [string, RegExp] => [name, /^-[eunxv]{1,5}$/]),
]);

/** Left out of what is judged wherever they stand, so that a rule speaks of what they run. */
const WRAPS = words('timeout nice time');

/** Change the shell in which the rest of the line runs, so that its words mean something else there. */
const CHANGES_THE_SHELL = words('cd pushd popd umask ulimit local getopts printf shift return exit break continue');

/** Run a program that is their first operand; with an option in its place the program may be anything. */
const INTERPRETERS = words(
  'node nodejs deno bun python pypy perl ruby php lua luajit tclsh wish osascript rscript julia groovy scala pwsh powershell java dotnet ts-node tsx',
);

/** Options of interpreters after which comes the name of a module that is run as a program. */
const MODULE_OPTIONS: ReadonlySet<string> = new Set(['-m']);

/** Modules of Python that say by themselves what they do. All others are allowed as a whole or not at all. */
const TELLING_MODULES = words('pytest unittest mypy black flake8 pylint isort compileall');

/**
 * Have a way to run other commands among what they do besides: allowed as a whole or not at all, and not to be trusted
 * where something is denied.
 */
const CAN_RUN_OTHERS = words(
  'awk gawk mawk nawk sed ed red ex vi vim nvim view vimdiff emacs nano less more man ssh sftp scp rsync tar sqlite3 sqlite psql mysql m4 bc dc mutt lftp ftp telnet irb',
);

/** One word more can mean anything: these are allowed as a whole or not at all. */
const EXACT_ONLY = words(
  'find zip unzip curl wget nc ncat socat rm rmdir unlink shred truncate mv cp ln dd tee install chmod chown chgrp chattr kill pkill killall ' +
    'mount umount mkfs fdisk parted systemctl service launchctl kubectl helm terraform aws gcloud az mongo redis-cli rg fd fdfind',
);

/** Subcommands that run what they are given, or set what is run later. */
const RUNNING_SUBCOMMANDS: Readonly<Record<string, ReadonlySet<string>>> = {
  git: words(
    'config submodule bisect difftool mergetool filter-branch filter-repo daemon instaweb send-email remote-ext hook worktree clone for-each-repo maintenance help var credential upload-pack receive-pack upload-archive shell',
  ),
  docker: words('run exec compose container'),
  podman: words('run exec compose container'),
  npm: words('exec x explore config set init create edit'),
  pnpm: words('exec dlx create config init'),
  yarn: words('exec dlx create config init node'),
  node: words('inspect debug'),
  nodejs: words('inspect debug'),
  tsx: words('watch'),
  scala: words('run repl test compile package shebang'),
  deno: words('eval run test bench repl serve x install compile jupyter'),
  bun: words('x exec repl create'),
  uv: words('run tool'),
  poetry: words('run'),
  pipenv: words('run'),
  bundle: words('exec'),
  direnv: words('exec'),
  mise: words('exec x'),
  nix: words('run shell develop'),
  gh: words('alias extension api'),
  dotnet: words('run exec watch script fsi'),
  lerna: words('exec run'),
  turbo: words('run'),
  nx: words('run exec'),
  flatpak: words('run'),
  snap: words('run'),
  vagrant: words('ssh'),
  heroku: words('run'),
  conda: words('run'),
  mamba: words('run'),
  pixi: words('run exec'),
  hatch: words('run'),
  pdm: words('run'),
  rye: words('run'),
  pyenv: words('exec'),
  rbenv: words('exec'),
  asdf: words('exec'),
  volta: words('run'),
};

/** Subcommands that mean nothing without the next word. */
const NEEDS_THIRD_WORD: Readonly<Record<string, ReadonlySet<string>>> = {
  npm: words('run run-script'),
  pnpm: words('run'),
  yarn: words('run workspace'),
  bun: words('run'),
  deno: words('task'),
  gh: words('pr issue repo run release workflow auth secret'),
  git: words('stash remote notes reflog bundle lfs sparse-checkout'),
  docker: words('system volume image network builder buildx context'),
  podman: words('system volume image network'),
  cargo: words('run'),
  go: words('run tool mod work'),
  uv: words('pip'),
};

/** Options of interpreters that are no program and take none, for which nothing is read from the input either. */
const ASKS_INTERPRETER = words('--version -V --help --test');

/** Why a rule may not allow all that begins with these words; undefined when it may. For people. */
export function prefixProblem(prefix: readonly string[], isExact: boolean): string | undefined {
  const [name = '', second, third] = plainArgv(prefix);
  if (runsOthers(name)) return isExact && namesWhatItRuns(prefix) ? undefined : runnerProblem(name);
  if (CHANGES_THE_SHELL.has(name)) return `${name} may change what the rest of the line does, so no rule can allow it`;
  const running = second !== undefined && isIn(RUNNING_SUBCOMMANDS, name, second);
  if (isInterpreter(name) && !running) {
    const problem = interpreterProblem(name, second, third, isExact);
    if (problem !== undefined) return problem;
  }
  if (isExact) return undefined;
  if (isOneOf(EXACT_ONLY, name) || isOneOf(CAN_RUN_OTHERS, name))
    return `${name} can do anything with one word more, so only a whole command of it can be allowed`;
  if (second === undefined) return `"${name}" alone is a bare name, which says nothing about what it does`;
  if (running) return `"${name} ${second}" runs whatever follows, so only a whole command of it can be allowed`;
  if (third === undefined && isIn(NEEDS_THIRD_WORD, name, second))
    return `"${name} ${second}" says nothing without the next word`;
  return undefined;
}

function runnerProblem(name: string): string {
  if (WRAPS.has(name))
    return `${name} runs other commands: write a rule for the command, which then holds behind ${name} too`;
  const rest = RUNS_WHAT_IT_NAMES.has(name)
    ? 'so only a whole command of it that names what it runs can be allowed'
    : 'or changes what they mean, so no rule can allow it';
  return `${name} runs other commands${rest.startsWith('so') ? ', ' : ' '}${rest}`;
}

/**
 * Whether the words say which program or which script of the folder runs: not from the input, and not from the text of
 * an option.
 */
function namesWhatItRuns([program = '', ...rest]: readonly string[]): boolean {
  const before = RUNS_WHAT_IT_NAMES.get(program);
  const named = rest.find((word) => before?.test(word) !== true);
  if (before === undefined || named === undefined || !/^[A-Za-z0-9_.@]/.test(named) || leadsOut(named)) return false;
  return program !== 'pipx' || rest[0] === 'run';
}

function interpreterProblem(
  name: string,
  second: string | undefined,
  third: string | undefined,
  isExact: boolean,
): string | undefined {
  if (second === undefined) return `"${name}" alone is a bare name: it runs any program`;
  if (!second.startsWith('-') || (isExact && ASKS_INTERPRETER.has(second))) return undefined;
  if (!MODULE_OPTIONS.has(second) || third === undefined || third.startsWith('-'))
    return `"${name} ${second}" can run any program; name the program first`;
  return isExact || TELLING_MODULES.has(third)
    ? undefined
    : `"${name} ${second} ${third}" can do anything with one word more, so only a whole command of it can be allowed`;
}

export function isInterpreter(name: string): boolean {
  return isOneOf(INTERPRETERS, name);
}

function isIn(table: Readonly<Record<string, ReadonlySet<string>>>, name: string, word: string): boolean {
  return Object.hasOwn(table, name) && table[name]?.has(word) === true;
}

function runsOthers(name: string): boolean {
  return isOneOf(RUNS_OTHERS, name) || DYNAMIC_LINKER.test(name);
}

/** Whether what the command does cannot be told from it: it runs others, or code that is given to it. */
export function hidesWhatItRuns(argv: readonly string[]): boolean {
  const [name = '', ...rest] = plainArgv(argv);
  if (runsOthers(name) || isOneOf(CAN_RUN_OTHERS, name)) return true;
  if (name === 'find') return rest.some((each) => /^-(?:exec|ok)/.test(each));
  const [second, third] = rest;
  if (second !== undefined && isIn(RUNNING_SUBCOMMANDS, name, second)) return true;
  return isInterpreter(name) && interpreterProblem(name, second, third, true) !== undefined;
}
