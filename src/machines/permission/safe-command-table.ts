/**
 * Commands that only read, as data: what each may be given so that it stays so. Whatever is not in here makes a command unsafe, so a new
 * option of a program is asked about until somebody has looked at it.
 *
 * Left out on purpose: what follows links out of the folder (`ls -L`, `rg -L`), what reads whole trees with the secrets in them
 * (`grep -r`, `rg --hidden`), what never ends (`tail -f`), what takes the names of files from a file, and whatever runs another program.
 */

/** What a value or an operand may be. `path` and `git_path` stay in the folder and are no secrets; the others cannot do harm by what they are. */
export type ValueKind = 'number' | 'text' | 'path' | 'git_path' | 'format' | 'file_suffix' | 'git_format';

export interface SafeUse {
  /** Options of one letter without a value; they may stand together. */
  readonly letters?: string;
  /** Other options without a value, as they are written. */
  readonly words?: readonly string[];
  /** Options with a value, in the same word or the next. */
  readonly valued?: Readonly<Record<string, ValueKind>>;
  /** Options whose value comes after `=` only. */
  readonly equals?: Readonly<Record<string, ValueKind>>;
  /** Whether `-20` is an option. */
  readonly countOption?: boolean;
  readonly operands: ValueKind | 'none';
  /** What the first operand is, where it differs; unless one of `insteadOfFirst` is given. */
  readonly firstOperand?: ValueKind;
  readonly insteadOfFirst?: readonly string[];
  readonly maxOperands?: number;
  /** Whether it shows what is in files that it is not given by name: below its folder, or in the history. */
  readonly readsUnnamed?: true;
}

const LISTING: SafeUse = {
  letters: 'lahtr1RFSAisdpognkUcum',
  words: ['--all', '--almost-all', '--human-readable', '--recursive', '--reverse', '--inode', '--size', '--color', '--directory', '--full-time', '--group-directories-first'],
  equals: { '--color': 'text', '--sort': 'text', '--time-style': 'text' },
  operands: 'path',
};

const GIT_HISTORY: SafeUse = {
  letters: 'puwb',
  words: [
    ...['--oneline', '--graph', '--all', '--stat', '--shortstat', '--numstat', '--name-only', '--name-status', '--summary', '--patch', '--no-patch', '--follow', '--reverse'],
    ...['--merges', '--no-merges', '--first-parent', '--decorate', '--no-decorate', '--abbrev-commit', '--no-color', '--branches', '--tags', '--remotes', '--cherry', '--raw'],
    ...['--no-ext-diff', '--no-textconv', '--pretty', '--topo-order', '--date-order', '--full-history', '--word-diff', '--ignore-all-space', '-s', '-i', '--regexp-ignore-case'],
  ],
  valued: { '-n': 'number', '--max-count': 'number', '--skip': 'number', '--since': 'text', '--after': 'text', '--until': 'text', '--before': 'text', '--author': 'text', '--grep': 'text', '-S': 'text', '-G': 'text', '-U': 'number' },
  equals: { '--format': 'git_format', '--pretty': 'git_format', '--date': 'text', '--decorate': 'text', '--color': 'text', '--diff-filter': 'text', '--stat': 'text', '--unified': 'number', '--abbrev': 'number', '--word-diff': 'text' },
  countOption: true,
  operands: 'git_path',
  readsUnnamed: true,
};

const GIT_DIFF: SafeUse = {
  letters: 'puwbRM',
  words: [
    ...['--cached', '--staged', '--stat', '--shortstat', '--numstat', '--name-only', '--name-status', '--summary', '--patch', '--no-patch', '--check', '--quiet', '--exit-code'],
    ...['--no-color', '--color', '--no-ext-diff', '--no-textconv', '--word-diff', '--ignore-all-space', '--ignore-space-change', '--merge-base', '--minimal', '--raw', '-s'],
  ],
  valued: { '-U': 'number', '-S': 'text', '-G': 'text' },
  equals: { '--unified': 'number', '--diff-filter': 'text', '--stat': 'text', '--color': 'text', '--word-diff': 'text', '--abbrev': 'number' },
  operands: 'git_path',
  readsUnnamed: true,
};

const GIT: Readonly<Record<string, SafeUse>> = {
  status: {
    letters: 'sbvz',
    words: ['--short', '--branch', '--long', '--verbose', '--porcelain', '--untracked-files', '--ignored', '--show-stash', '-u', '-uno', '-unormal', '-uall', '--ahead-behind', '--no-renames'],
    equals: { '--porcelain': 'text', '--untracked-files': 'text', '--ignored': 'text' },
    operands: 'git_path',
  },
  log: GIT_HISTORY,
  show: GIT_HISTORY,
  diff: GIT_DIFF,
  branch: { letters: 'arv', words: ['-vv', '--all', '--remotes', '--list', '--show-current', '--no-color', '--verbose'], operands: 'none' },
  tag: { words: ['--list', '-l'], operands: 'none' },
  'rev-parse': { words: ['--show-toplevel', '--abbrev-ref', '--short', '--verify', '--is-inside-work-tree', '--symbolic-full-name', '--show-prefix'], operands: 'git_path' },
  'ls-files': { letters: 'cdmosz', words: ['--cached', '--deleted', '--modified', '--others', '--stage', '--exclude-standard', '--full-name', '--error-unmatch'], operands: 'git_path' },
  blame: { letters: 'lstefnwb', words: ['--porcelain', '--show-email', '--date'], valued: { '-L': 'text' }, equals: { '--date': 'text' }, operands: 'git_path' },
  remote: { words: ['-v', '--verbose'], operands: 'none' },
};

const GREP: SafeUse = {
  letters: 'nivlLcowxEFGPqshHabIZ',
  words: [
    ...['--line-number', '--ignore-case', '--invert-match', '--files-with-matches', '--files-without-match', '--count', '--only-matching', '--word-regexp', '--line-regexp'],
    ...['--extended-regexp', '--fixed-strings', '--quiet', '--no-messages', '--no-filename', '--with-filename', '--color', '--text'],
  ],
  valued: { '-e': 'text', '--regexp': 'text', '-A': 'number', '-B': 'number', '-C': 'number', '-m': 'number', '--max-count': 'number', '--after-context': 'number', '--before-context': 'number', '--context': 'number' },
  equals: { '--color': 'text' },
  operands: 'path',
  firstOperand: 'text',
  insteadOfFirst: ['-e', '--regexp'],
};

const RIPGREP: SafeUse = {
  letters: 'nNiIlwxcvFsSoHp',
  words: [
    ...['--line-number', '--no-line-number', '--ignore-case', '--smart-case', '--case-sensitive', '--files-with-matches', '--files-without-match', '--count', '--fixed-strings'],
    ...['--word-regexp', '--only-matching', '--no-heading', '--heading', '--vimgrep', '--json', '--invert-match', '--no-config', '--multiline', '-U', '--files'],
  ],
  valued: { '-e': 'text', '--regexp': 'text', '-A': 'number', '-B': 'number', '-C': 'number', '-m': 'number', '--max-count': 'number', '-t': 'text', '--type': 'text', '-T': 'text', '-g': 'file_suffix', '--glob': 'file_suffix', '-d': 'number', '--max-depth': 'number' },
  equals: { '--color': 'text', '--sort': 'text' },
  operands: 'path',
  firstOperand: 'text',
  insteadOfFirst: ['-e', '--regexp', '--files'],
  readsUnnamed: true,
};

/** Commands with operations of their own: each has its entry under the name of the operation, which comes first. */
export const SAFE_SUBCOMMANDS: Readonly<Record<string, Readonly<Record<string, SafeUse>>>> = { git: GIT };

export const SAFE_COMMANDS: Readonly<Record<string, SafeUse>> = {
  ls: LISTING,
  cat: { letters: 'nbsAETve', operands: 'path' },
  head: { letters: 'qv', valued: { '-n': 'number', '-c': 'number', '--lines': 'number', '--bytes': 'number' }, countOption: true, operands: 'path' },
  tail: { letters: 'qv', valued: { '-n': 'number', '-c': 'number', '--lines': 'number', '--bytes': 'number' }, countOption: true, operands: 'path' },
  wc: { letters: 'lwcmL', words: ['--lines', '--words', '--bytes', '--chars'], operands: 'path' },
  grep: GREP,
  rg: RIPGREP,
  pwd: { letters: 'LP', operands: 'none' },
  true: { operands: 'none' },
  false: { operands: 'none' },
  date: { letters: 'uR', words: ['--utc', '-I', '--iso-8601', '--rfc-email'], equals: { '--iso-8601': 'text' }, operands: 'format', maxOperands: 1 },
  stat: { letters: 't', valued: { '-c': 'text' }, equals: { '--format': 'text' }, operands: 'path' },
  file: { letters: 'biNr', words: ['--brief', '--mime', '--mime-type', '--mime-encoding'], operands: 'path' },
  du: { letters: 'shackmbx', words: ['--summarize', '--human-readable', '--all', '--total', '--apparent-size'], valued: { '-d': 'number', '--max-depth': 'number' }, operands: 'path' },
  df: { letters: 'hHkTPai', words: ['--human-readable'], operands: 'path' },
  uname: { letters: 'asrmnpvo', operands: 'none' },
  whoami: { operands: 'none' },
  id: { letters: 'ugnGr', operands: 'none' },
  basename: { letters: 'a', valued: { '-s': 'text' }, operands: 'text' },
  dirname: { operands: 'text' },
  realpath: { operands: 'path' },
  sort: { letters: 'rnufhVbgdiMcsz', words: ['--reverse', '--numeric-sort', '--unique', '--human-numeric-sort', '--version-sort', '--ignore-case'], valued: { '-k': 'text', '-t': 'text', '--key': 'text', '--field-separator': 'text' }, operands: 'path' },
  uniq: { letters: 'cduiz', words: ['--count', '--repeated', '--unique', '--ignore-case'], valued: { '-f': 'number', '-s': 'number', '-w': 'number' }, operands: 'path', maxOperands: 1 },
  cut: { letters: 'sz', words: ['--only-delimited', '--complement'], valued: { '-d': 'text', '-f': 'text', '-c': 'text', '-b': 'text', '--delimiter': 'text', '--fields': 'text' }, equals: { '--output-delimiter': 'text' }, operands: 'path' },
  tr: { letters: 'cdsCt', words: ['--delete', '--squeeze-repeats', '--complement'], operands: 'text', maxOperands: 2 },
  diff: { letters: 'uqwbiByaEtT', words: ['--brief', '--unified', '--side-by-side', '--ignore-all-space', '--color'], valued: { '-U': 'number' }, equals: { '--unified': 'number', '--color': 'text' }, operands: 'path', maxOperands: 2, readsUnnamed: true },
  cmp: { letters: 'slb', words: ['--silent', '--quiet', '--verbose'], operands: 'path', maxOperands: 2 },
};
