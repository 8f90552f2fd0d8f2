/**
 * Commands that only read, as data: what each may be given so that it stays so. Whatever is not in here makes a command
 * unsafe, so a new option of a program is asked about until a maintainer has checked it. Programs whose operands have a
 * grammar of their own (`sed`, `find`, `test`, `printf`, `echo`, `command`) stand in `safe-grammars.ts`.
 *
 * Left out on purpose: what follows links out of the folder (`ls -L`, `rg -L`), what reads whole trees with the secrets
 * in them (`grep -r`, `rg --hidden`), what never ends (`tail -f`), what takes the names of files from a file, and
 * whatever runs another program.
 */

/**
 * What a value or an operand may be. `path` and `git_path` are read, stay in the folder and are no secrets; the others
 * cannot do harm by what they are. There is none for what is written: a program that writes an operand has no entry
 * that takes it.
 */
export type ValueKind =
  | 'number'
  | 'seconds'
  | 'name'
  | 'text'
  | 'path'
  | 'git_path'
  | 'format'
  | 'file_suffix'
  | 'file_type'
  | 'git_format';

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
  /**
   * What the first operands are, each by its place; `rest`: what all others are. An operand of which nothing is said
   * here is not taken.
   */
  readonly operands: readonly ValueKind[];
  readonly rest: ValueKind | 'none';
  /** Options that say what the first operand would: with one of them there is no such operand. */
  readonly insteadOfFirst?: readonly string[];
  /** Whether no option may follow an operand: there some systems take it for the operand that is written. */
  readonly optionsFirst?: true;
  /** Whether it shows what is in files that it is not given by name: below its folder, or in the history. */
  readonly readsUnnamed?: true;
}

const LISTING: SafeUse = {
  letters: 'lahtr1RFSAisdpognkUcum',
  words: [
    '--all',
    '--almost-all',
    '--human-readable',
    '--recursive',
    '--reverse',
    '--inode',
    '--size',
    '--color',
    '--directory',
    '--full-time',
    '--group-directories-first',
  ],
  equals: { '--color': 'text', '--sort': 'text', '--time-style': 'text' },
  operands: [],
  rest: 'path',
};

const GIT_HISTORY: SafeUse = {
  letters: 'puwb',
  words: [
    ...[
      '--oneline',
      '--graph',
      '--all',
      '--stat',
      '--shortstat',
      '--numstat',
      '--name-only',
      '--name-status',
      '--summary',
      '--patch',
      '--no-patch',
      '--follow',
      '--reverse',
    ],
    ...[
      '--merges',
      '--no-merges',
      '--first-parent',
      '--decorate',
      '--no-decorate',
      '--abbrev-commit',
      '--no-color',
      '--branches',
      '--tags',
      '--remotes',
      '--cherry',
      '--raw',
    ],
    ...[
      '--no-ext-diff',
      '--no-textconv',
      '--pretty',
      '--topo-order',
      '--date-order',
      '--full-history',
      '--word-diff',
      '--ignore-all-space',
      '-s',
      '-i',
      '--regexp-ignore-case',
    ],
  ],
  valued: {
    '-n': 'number',
    '--max-count': 'number',
    '--skip': 'number',
    '--since': 'text',
    '--after': 'text',
    '--until': 'text',
    '--before': 'text',
    '--author': 'text',
    '--grep': 'text',
    '-S': 'text',
    '-G': 'text',
    '-U': 'number',
  },
  equals: {
    '--format': 'git_format',
    '--pretty': 'git_format',
    '--date': 'text',
    '--decorate': 'text',
    '--color': 'text',
    '--diff-filter': 'text',
    '--stat': 'text',
    '--unified': 'number',
    '--abbrev': 'number',
    '--word-diff': 'text',
  },
  countOption: true,
  operands: [],
  rest: 'git_path',
  readsUnnamed: true,
};

const GIT_DIFF: SafeUse = {
  letters: 'puwbRM',
  words: [
    ...[
      '--cached',
      '--staged',
      '--stat',
      '--shortstat',
      '--numstat',
      '--name-only',
      '--name-status',
      '--summary',
      '--patch',
      '--no-patch',
      '--check',
      '--quiet',
      '--exit-code',
    ],
    ...[
      '--no-color',
      '--color',
      '--no-ext-diff',
      '--no-textconv',
      '--word-diff',
      '--ignore-all-space',
      '--ignore-space-change',
      '--merge-base',
      '--minimal',
      '--raw',
      '-s',
    ],
  ],
  valued: { '-U': 'number', '-S': 'text', '-G': 'text' },
  equals: {
    '--unified': 'number',
    '--diff-filter': 'text',
    '--stat': 'text',
    '--color': 'text',
    '--word-diff': 'text',
    '--abbrev': 'number',
  },
  operands: [],
  rest: 'git_path',
  readsUnnamed: true,
};

const GIT: Readonly<Record<string, SafeUse>> = {
  status: {
    // Not -v: it shows what was changed in files.
    letters: 'sbz',
    words: [
      '--short',
      '--branch',
      '--long',
      '--porcelain',
      '--untracked-files',
      '--ignored',
      '--show-stash',
      '-u',
      '-uno',
      '-unormal',
      '-uall',
      '--ahead-behind',
      '--no-renames',
    ],
    equals: { '--porcelain': 'text', '--untracked-files': 'text', '--ignored': 'text' },
    operands: [],
    rest: 'git_path',
  },
  log: GIT_HISTORY,
  show: GIT_HISTORY,
  diff: GIT_DIFF,
  branch: {
    letters: 'arv',
    words: ['-vv', '--all', '--remotes', '--list', '--show-current', '--no-color', '--verbose'],
    operands: [],
    rest: 'none',
  },
  tag: { words: ['--list', '-l'], operands: [], rest: 'none' },
  'rev-parse': {
    words: [
      '--show-toplevel',
      '--abbrev-ref',
      '--short',
      '--verify',
      '--is-inside-work-tree',
      '--symbolic-full-name',
      '--show-prefix',
    ],
    operands: [],
    rest: 'git_path',
  },
  'ls-files': {
    letters: 'cdmosz',
    words: [
      '--cached',
      '--deleted',
      '--modified',
      '--others',
      '--stage',
      '--exclude-standard',
      '--full-name',
      '--error-unmatch',
    ],
    operands: [],
    rest: 'git_path',
  },
  blame: {
    letters: 'lstefnwb',
    words: ['--porcelain', '--show-email'],
    valued: { '-L': 'text', '--date': 'text' },
    operands: [],
    rest: 'git_path',
  },
  remote: { words: ['-v', '--verbose'], operands: [], rest: 'none' },
};

const GREP: SafeUse = {
  letters: 'nivlLcowxEFGPqshHabIZ',
  words: [
    ...[
      '--line-number',
      '--ignore-case',
      '--invert-match',
      '--files-with-matches',
      '--files-without-match',
      '--count',
      '--only-matching',
      '--word-regexp',
      '--line-regexp',
    ],
    ...[
      '--extended-regexp',
      '--fixed-strings',
      '--quiet',
      '--no-messages',
      '--no-filename',
      '--with-filename',
      '--color',
      '--text',
    ],
  ],
  valued: {
    '-e': 'text',
    '--regexp': 'text',
    '-A': 'number',
    '-B': 'number',
    '-C': 'number',
    '-m': 'number',
    '--max-count': 'number',
    '--after-context': 'number',
    '--before-context': 'number',
    '--context': 'number',
  },
  equals: { '--color': 'text' },
  operands: ['text'],
  rest: 'path',
  insteadOfFirst: ['-e', '--regexp'],
};

const RIPGREP: SafeUse = {
  letters: 'nNiIlwxcvFsSoHp',
  words: [
    ...[
      '--line-number',
      '--no-line-number',
      '--ignore-case',
      '--smart-case',
      '--case-sensitive',
      '--files-with-matches',
      '--files-without-match',
      '--count',
      '--fixed-strings',
    ],
    ...[
      '--word-regexp',
      '--only-matching',
      '--no-heading',
      '--heading',
      '--vimgrep',
      '--json',
      '--invert-match',
      '--no-config',
      '--multiline',
      '-U',
      '--files',
    ],
  ],
  valued: {
    '-e': 'text',
    '--regexp': 'text',
    '-A': 'number',
    '-B': 'number',
    '-C': 'number',
    '-m': 'number',
    '--max-count': 'number',
    '-t': 'file_type',
    '--type': 'file_type',
    '-T': 'text',
    '-g': 'file_suffix',
    '--glob': 'file_suffix',
    '-d': 'number',
    '--max-depth': 'number',
  },
  equals: { '--color': 'text', '--sort': 'text' },
  operands: ['text'],
  rest: 'path',
  insteadOfFirst: ['-e', '--regexp', '--files'],
  readsUnnamed: true,
};

/** Commands with operations of their own: each has its entry under the name of the operation, which comes first. */
export const SAFE_SUBCOMMANDS: Readonly<Record<string, Readonly<Record<string, SafeUse>>>> = { git: GIT };

export const SAFE_COMMANDS: Readonly<Record<string, SafeUse>> = {
  ls: LISTING,
  cat: { letters: 'nbsAETve', operands: [], rest: 'path' },
  head: {
    letters: 'qv',
    valued: { '-n': 'number', '-c': 'number', '--lines': 'number', '--bytes': 'number' },
    countOption: true,
    operands: [],
    rest: 'path',
  },
  tail: {
    letters: 'qv',
    valued: { '-n': 'number', '-c': 'number', '--lines': 'number', '--bytes': 'number' },
    countOption: true,
    operands: [],
    rest: 'path',
  },
  wc: { letters: 'lwcmL', words: ['--lines', '--words', '--bytes', '--chars'], operands: [], rest: 'path' },
  grep: GREP,
  rg: RIPGREP,
  pwd: { letters: 'LP', operands: [], rest: 'none' },
  true: { operands: [], rest: 'none' },
  false: { operands: [], rest: 'none' },
  date: {
    letters: 'uR',
    words: ['--utc', '-I', '--iso-8601', '--rfc-email'],
    equals: { '--iso-8601': 'text' },
    operands: ['format'],
    rest: 'none',
  },
  stat: { letters: 't', valued: { '-c': 'text' }, equals: { '--format': 'text' }, operands: [], rest: 'path' },
  file: { letters: 'biNr', words: ['--brief', '--mime', '--mime-type', '--mime-encoding'], operands: [], rest: 'path' },
  du: {
    letters: 'shackmbx',
    words: ['--summarize', '--human-readable', '--all', '--total', '--apparent-size'],
    valued: { '-d': 'number', '--max-depth': 'number' },
    operands: [],
    rest: 'path',
  },
  df: { letters: 'hHkTPai', words: ['--human-readable'], operands: [], rest: 'path' },
  uname: { letters: 'asrmnpvo', operands: [], rest: 'none' },
  whoami: { operands: [], rest: 'none' },
  id: { letters: 'ugnGr', operands: [], rest: 'none' },
  basename: { letters: 'a', valued: { '-s': 'text' }, operands: [], rest: 'text' },
  dirname: { operands: [], rest: 'text' },
  realpath: { operands: [], rest: 'path' },
  sort: {
    letters: 'rnufhVbgdiMcsz',
    words: ['--reverse', '--numeric-sort', '--unique', '--human-numeric-sort', '--version-sort', '--ignore-case'],
    valued: { '-k': 'text', '-t': 'text', '--key': 'text', '--field-separator': 'text' },
    operands: [],
    rest: 'path',
  },
  uniq: {
    letters: 'cduiz',
    words: ['--count', '--repeated', '--unique', '--ignore-case'],
    valued: { '-f': 'number', '-s': 'number', '-w': 'number' },
    operands: ['path'],
    rest: 'none',
    optionsFirst: true,
  },
  cut: {
    letters: 'sz',
    words: ['--only-delimited', '--complement'],
    valued: { '-d': 'text', '-f': 'text', '-c': 'text', '-b': 'text', '--delimiter': 'text', '--fields': 'text' },
    equals: { '--output-delimiter': 'text' },
    operands: [],
    rest: 'path',
  },
  tr: {
    letters: 'cdsCt',
    words: ['--delete', '--squeeze-repeats', '--complement'],
    operands: ['text', 'text'],
    rest: 'none',
  },
  diff: {
    letters: 'uqwbiByaEtT',
    words: ['--brief', '--unified', '--side-by-side', '--ignore-all-space', '--color'],
    valued: { '-U': 'number' },
    equals: { '--unified': 'number', '--color': 'text' },
    operands: ['path', 'path'],
    rest: 'none',
    readsUnnamed: true,
  },
  sleep: { operands: ['seconds'], rest: 'none' },
  which: { letters: 'a', operands: [], rest: 'name' },
  cmp: { letters: 'slb', words: ['--silent', '--quiet', '--verbose'], operands: ['path', 'path'], rest: 'none' },
};
