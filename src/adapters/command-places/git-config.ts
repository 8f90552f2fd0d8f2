/**
 * Reads the settings of a repository, as far as they are known to be harmless for git commands that only read. A
 * section or a key that is not in the table may name a program, and a line that is not plain may mean another one.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** In lower case, by section; `*` for those with a name behind, as in `[branch "main"]`. */
const HARMLESS_KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  core: words(
    'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf longpaths quotepath hidedotfiles abbrev whitespace compression preloadindex untrackedcache trustctime protectntfs protecthfs',
  ),
  'remote.*': words('url fetch push pushurl tagopt prune skipfetchall gh-resolved'),
  'branch.*': words(
    'remote merge rebase pushremote description vscode-merge-base github-pr-owner-number gh-merge-base',
  ),
  user: words('name email'),
  init: words('defaultbranch'),
  pull: words('rebase ff'),
  push: words('default autosetupremote followtags'),
  fetch: words('prune prunetags'),
  merge: words('ff conflictstyle renames'),
  rebase: words('autostash autosquash'),
  diff: words('renames algorithm mnemonicprefix noprefix colormoved'),
  log: words('date decorate follow'),
  status: words('short branch showstash showuntrackedfiles'),
  commit: words('verbose'),
  gc: words('auto'),
  submodule: words('active'),
  'submodule.*': words('active url'),
  extensions: words('objectformat worktreeconfig refstorage'),
  color: words('ui branch diff grep interactive showbranch status'),
  'color.*': words(
    'meta frag old new commit whitespace plain context branch tag remote head current local upstream header added changed untracked updated deleted nobranch',
  ),
};

const MAX_LINES = 5_000;

const SECTION = /^\[(?<section>[A-Za-z][A-Za-z0-9-]*)(?<named>[ \t]+"[^"\\]*")?\]$/;
const SETTING = /^(?<key>[A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(?<value>[^\\]*))?$/;

export interface GitConfig {
  /** Why it may make git run something, for people. */
  readonly problem?: string;
  /** Of the names of objects. */
  readonly hashBytes: 20 | 32;
}

export function readGitConfig(text: string, what: string): GitConfig {
  const lines = text.split('\n');
  if (lines.length > MAX_LINES) return { problem: `${what} has more than ${MAX_LINES} lines`, hashBytes: 20 };
  let section = '';
  let hashBytes: GitConfig['hashBytes'] = 20;
  for (const [index, line] of lines.entries()) {
    const plain = line.replace(/\r$/, '').replace(/^[ \t]+|[ \t]+$/g, '');
    if (plain === '' || plain.startsWith('#') || plain.startsWith(';')) continue;
    const header = SECTION.exec(plain)?.groups;
    if (header !== undefined) {
      section = `${header['section']?.toLowerCase() ?? ''}${header['named'] === undefined ? '' : '.*'}`;
      continue;
    }
    const setting = SETTING.exec(plain)?.groups;
    if (setting === undefined) return { problem: `line ${index + 1} of ${what} is not plain`, hashBytes };
    const key = setting['key']?.toLowerCase() ?? '';
    const value = setting['value']?.toLowerCase();
    if (!isHarmless(section, key, value))
      return {
        problem: `${what} sets ${section}.${key}, which may make git run a program or check elsewhere`,
        hashBytes,
      };
    if (`${section}.${key}` === 'extensions.objectformat') hashBytes = value === 'sha256' ? 32 : 20;
  }
  return { hashBytes };
}

function isHarmless(section: string, key: string, value: string | undefined): boolean {
  const keys = Object.hasOwn(HARMLESS_KEYS, section) ? HARMLESS_KEYS[section] : undefined;
  if (keys?.has(key) !== true) return false;
  return `${section}.${key}` !== 'core.bare' || value === 'false';
}
