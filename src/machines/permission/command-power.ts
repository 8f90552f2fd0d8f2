/**
 * What a command line can become when more words are added to it, as data: which commands run others, which ask for a subcommand before
 * a rule can mean anything, and which options turn a harmless beginning into something else.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Run whatever they are given, or set what is run later. What they do cannot be told from their beginning. */
const RUNS_OTHERS = words(
  'env xargs sudo doas su runuser pkexec sh bash dash zsh ksh mksh fish csh tcsh ash busybox toybox eval exec command builtin source . nohup nice ionice chrt ' +
    'timeout gtimeout time stdbuf setsid setarch taskset strace ltrace gdb watch parallel script expect chroot unshare nsenter flock entr at batch crontab systemd-run ' +
    'alias unalias export set unset trap hash enable declare typeset readonly read mapfile readarray shopt complete bind ' +
    'if then while until for case function ! { [ [[ coproc npx bunx uvx pipx screen tmux ssh-agent dbus-run-session xvfb-run faketime fakeroot proot firejail bwrap',
);

/** Change the shell in which the rest of the line runs, so that its words mean something else there. */
const CHANGES_THE_SHELL = words('cd pushd popd umask ulimit local getopts printf shift return exit break continue');

/** Run a program that is their first operand; with an option in its place the program may be anything. */
const INTERPRETERS = words('node nodejs deno bun python python2 python3 pypy pypy3 perl ruby php lua luajit tclsh wish osascript rscript julia groovy scala awk gawk mawk nawk pwsh powershell java dotnet ts-node tsx');

/** Options of interpreters after which comes the name of a module that is run as a program. */
const MODULE_OPTIONS: ReadonlySet<string> = new Set(['-m']);

/** One word more can mean anything: these are allowed as a whole or not at all. */
const EXACT_ONLY = words(
  'find ssh scp sftp rsync tar zip unzip curl wget nc ncat socat rm rmdir unlink shred truncate mv cp ln dd tee install chmod chown chgrp chattr kill pkill killall sed ed ex vi vim nvim emacs less more man ' +
    'mount umount mkfs fdisk parted systemctl service launchctl kubectl helm terraform aws gcloud az psql mysql sqlite3 mongo redis-cli rg fd fdfind',
);

/** Subcommands that run what they are given, or set what is run later. */
const RUNNING_SUBCOMMANDS: Readonly<Record<string, ReadonlySet<string>>> = {
  git: words('config submodule bisect difftool mergetool filter-branch filter-repo daemon instaweb send-email remote-ext hook worktree clone'),
  docker: words('run exec compose container'),
  podman: words('run exec compose container'),
  npm: words('exec x explore config set init create'),
  pnpm: words('exec dlx create config init'),
  yarn: words('exec dlx create config init'),
  deno: words('eval run'),
  bun: words('x exec'),
  uv: words('run tool'),
  poetry: words('run'),
  pipenv: words('run'),
  bundle: words('exec'),
  direnv: words('exec'),
  mise: words('exec x'),
  nix: words('run shell develop'),
  gh: words('alias extension api'),
};

/** Subcommands that mean nothing without the next word. */
const NEEDS_THIRD_WORD: Readonly<Record<string, ReadonlySet<string>>> = {
  npm: words('run run-script'),
  pnpm: words('run'),
  yarn: words('run workspace'),
  bun: words('run'),
  gh: words('pr issue repo run release workflow auth secret'),
  git: words('stash remote'),
  cargo: words('run'),
  go: words('run tool'),
};

/** Why a rule may not allow all that begins with these words; undefined when it may. For people. */
export function prefixProblem(prefix: readonly string[], isExact: boolean): string | undefined {
  const [word = '', second, third] = prefix;
  const name = nameOf(word);
  if (RUNS_OTHERS.has(name)) return `${name} runs other commands or changes what they mean, so no rule can allow it`;
  if (CHANGES_THE_SHELL.has(name)) return `${name} may change what the rest of the line does, so no rule can allow it`;
  if (INTERPRETERS.has(name)) return interpreterProblem(name, prefix);
  if (isExact) return undefined;
  if (EXACT_ONLY.has(name)) return `${name} can do anything with one word more, so only a whole command of it can be allowed`;
  if (second === undefined) return `"${name}" alone is a bare name, which says nothing about what it does`;
  if (second.startsWith('-')) return `"${name} ${second}" begins with an option, after which anything can follow`;
  if (isIn(RUNNING_SUBCOMMANDS, name, second)) return `"${name} ${second}" runs whatever follows, so only a whole command of it can be allowed`;
  return third === undefined && isIn(NEEDS_THIRD_WORD, name, second) ? `"${name} ${second}" says nothing without the next word` : undefined;
}

function interpreterProblem(name: string, [, second, third]: readonly string[]): string | undefined {
  if (second === undefined) return `"${name}" alone is a bare name: it runs any program`;
  if (MODULE_OPTIONS.has(second) && third !== undefined && !third.startsWith('-')) return undefined;
  return second.startsWith('-') ? `"${name} ${second}" can run any program; name the program first` : undefined;
}

function isIn(table: Readonly<Record<string, ReadonlySet<string>>>, name: string, word: string): boolean {
  return Object.hasOwn(table, name) && table[name]?.has(word) === true;
}

/** What a command is called, wherever it lies. */
export function nameOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1).toLowerCase();
}

/** Whether what the command does cannot be told from it: it runs others, or code that is given to it. */
export function hidesWhatItRuns(argv: readonly string[]): boolean {
  const [word = '', ...rest] = argv;
  const name = nameOf(word);
  if (RUNS_OTHERS.has(name)) return true;
  if (name === 'find') return rest.some((each) => /^-(?:exec|ok)/.test(each));
  if (INTERPRETERS.has(name)) return interpreterProblem(name, argv) !== undefined;
  return rest[0] !== undefined && isIn(RUNNING_SUBCOMMANDS, name, rest[0]);
}

interface Escalation {
  readonly command: string;
  /** The subcommand it belongs to; every one when absent. */
  readonly subcommand?: string;
  /** Options of one letter. */
  readonly letters?: string;
  /** Other options, as they are written in full. */
  readonly options?: readonly string[];
  /** Words that are no options. */
  readonly words?: RegExp;
}

/** What a rule must name itself: a prefix that leaves it out does not allow it. */
const ESCALATIONS: readonly Escalation[] = [
  { command: 'git', options: ['--output', '--ext-diff', '--textconv', '--exec', '--exec-path', '--upload-pack', '--receive-pack', '--git-dir', '--work-tree', '--config', '--open-files-in-pager', '--no-index', '--template', '--help'] },
  // A word that begins with "+" forces, one that begins with ":" deletes.
  { command: 'git', subcommand: 'push', letters: 'fd', options: ['--force', '--force-with-lease', '--force-if-includes', '--delete', '--mirror', '--prune', '--all', '--tags'], words: /^[+:]/ },
  { command: 'git', subcommand: 'fetch', letters: 'f', options: ['--force', '--prune'], words: /^\+/ },
  { command: 'git', subcommand: 'pull', letters: 'f', options: ['--force'], words: /^\+/ },
  { command: 'git', subcommand: 'reset', options: ['--hard', '--merge', '--keep'] },
  { command: 'git', subcommand: 'checkout', letters: 'fB', options: ['--force'] },
  { command: 'git', subcommand: 'switch', letters: 'fC', options: ['--force', '--discard-changes', '--force-create'] },
  { command: 'git', subcommand: 'branch', letters: 'dDfMC', options: ['--delete', '--force'] },
  { command: 'git', subcommand: 'tag', letters: 'df', options: ['--delete', '--force'] },
  { command: 'git', subcommand: 'commit', letters: 'n', options: ['--amend', '--no-verify'] },
  { command: 'git', subcommand: 'rebase', letters: 'xi', options: ['--exec', '--interactive'] },
  { command: 'git', subcommand: 'clean', letters: 'fdxX', options: ['--force'] },
  { command: 'git', subcommand: 'grep', letters: 'O' },
  { command: 'git', subcommand: 'stash', words: /^(?:drop|clear|pop)$/ },
  ...['npm', 'pnpm', 'yarn'].map((command) => ({ command, letters: 'C', options: ['--script-shell', '--shell', '--node-options', '--prefix', '--dir', '--cwd', '--userconfig', '--globalconfig', '--registry', '--call', '--shell-emulator', '--force'] })),
  ...['make', 'gmake'].map((command) => ({ command, letters: 'fCIE', options: ['--eval', '--file', '--makefile', '--directory', '--include-dir'], words: /=/ })),
  { command: 'cargo', letters: 'CZ', options: ['--config', '--manifest-path', '--target-dir'] },
  { command: 'go', options: ['-exec', '-toolexec', '-C', '-o', '-modfile', '-overlay', '-vettool', '-cpuprofile', '-memprofile', '-outputdir'] },
  ...['mvn', 'gradle', 'gradlew'].map((command) => ({ command, letters: 'fbpIDP', options: ['--init-script', '--build-file', '--project-dir', '--file', '--settings'] })),
  ...['pip', 'pip3'].map((command) => ({ command, letters: 'iet', options: ['--index-url', '--extra-index-url', '--editable', '--target', '--prefix', '--root', '--trusted-host'] })),
  { command: 'docker', options: ['--privileged', '--volume', '--mount', '--host', '--context'], letters: 'vH' },
  { command: 'sort', letters: 'oT', options: ['--output', '--compress-program', '--temporary-directory'] },
];

/** Whether the words that come after a prefix make the command more than its beginning says. */
export function escalates(argv: readonly string[], prefixLength: number): boolean {
  const name = nameOf(argv[0] ?? '');
  const added = argv.slice(prefixLength);
  return ESCALATIONS.filter(({ command, subcommand }) => command === name && (subcommand === undefined || subcommand === argv[1])).some(
    ({ letters = '', options = [], words: pattern }) => added.some((word) => pattern?.test(word) === true || usesLetter(word, letters) || options.some((option) => meansOption(word, option))),
  );
}

function usesLetter(word: string, letters: string): boolean {
  return /^-[^-]/.test(word) && Array.from(word.slice(1)).some((letter) => letters.includes(letter));
}

/** Programs take an option by its beginning too, as long as that is enough to tell it. */
function meansOption(word: string, option: string): boolean {
  const [given = ''] = word.split('=');
  if (option.startsWith('--')) return given.length > 2 && option.startsWith(given);
  return given === option || given === `-${option}`;
}
