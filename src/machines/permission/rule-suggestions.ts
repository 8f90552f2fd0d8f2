/** The narrowest rules that would have made a question unnecessary: what a person may choose to allow for a session or for good. */
import { plainArgv } from './command-name.ts';
import { prefixProblem } from './command-power.ts';
import { workspacePath } from './path-glob.ts';
import { MAX_RULE_CHARACTERS, formatRule, permissionRule } from './permission-rule.ts';
import type { PermissionRule } from './permission-rule.ts';
import type { PermissionSubject } from './permission-subject.ts';
import { allowsCommand, allowsPath } from './rule-match.ts';
import { hasSecretName, isNeverMeantByWildcard, pathProblem } from './sensitive-path.ts';
import type { ShellCommand } from './shell-reading.ts';

/** Beginnings that say what is done, whatever may follow them. All others are suggested as a whole line. */
const TELLING_BEGINNINGS: readonly (readonly string[])[] = [
  ...['npm test', 'pnpm test', 'yarn test', 'bun test', 'npm ci', 'cargo test', 'cargo build', 'cargo check', 'cargo clippy', 'cargo fmt', 'go test', 'go build', 'go vet', 'go fmt', 'dotnet test', 'dotnet build', 'git commit -m'],
].map((text) => text.split(' '));

/** Characters beyond which nobody reads a line before allowing it for good. */
const MAX_LINE_CHARACTERS = 200;

/** Never offered for good: what destroys, what publishes, what leaves the machine. */
const DESTRUCTIVE = new Set(
  'rm rmdir unlink shred truncate dd mkfs fdisk parted mount umount chmod chown chgrp chattr kill pkill killall shutdown reboot halt systemctl service launchctl curl wget ssh scp sftp rsync nc ncat socat mv tee'.split(' '),
);

/** Options of git that throw work away, or run something. */
const DESTRUCTIVE_FOR_GIT = /^(?:--(?:forc|har|dele|mirr|prun|amen|no-verif|exec|ext-d|discard)|-[A-Za-z]*[fDx])/;

/** What the names of settings with secrets have in them. */
const SECRET_WORD = /pass(?:wor|wd|phr)|token|secret|api[-_]?key|auth|credential|bearer/i;

/** Long and mixed, as keys are; or a user with a password in an address. */
const SECRET_VALUE = /(?=[^\s/]*[0-9])(?=[^\s/]*[A-Za-z])[A-Za-z0-9+_=-]{32,}|:\/\/[^/\s]*@/;

/** The rules that together allow the line; none when a part of it should be asked about each time. */
export function suggestForCommands(tool: string, commands: readonly ShellCommand[]): readonly PermissionRule[] {
  const rules = new Map<string, PermissionRule>();
  for (const command of commands) {
    const rule = suggestForCommand(tool, command);
    if (rule === undefined) return [];
    rules.set(formatRule(rule), rule);
  }
  return [...rules.values()];
}

function suggestForCommand(tool: string, command: ShellCommand): PermissionRule | undefined {
  const { argv } = command;
  const [name = '', ...words] = plainArgv(argv);
  // mkfs has a variant for each file system.
  if (DESTRUCTIVE.has(name) || name.startsWith('mkfs') || (name === 'git' && words.some((word) => DESTRUCTIVE_FOR_GIT.test(word)))) return undefined;
  const beginning = TELLING_BEGINNINGS.find((telling) => telling.every((word, index) => word === argv[index]));
  const asBeginning = beginning === undefined ? undefined : ruleFor(tool, beginning, { isExact: false });
  if (asBeginning !== undefined && allowsCommand(asBeginning, command)) return asBeginning;
  if (argv.join(' ').length > MAX_LINE_CHARACTERS || argv.some(mayHoldSecret)) return undefined;
  return ruleFor(tool, argv, { isExact: true });
}

function mayHoldSecret(word: string): boolean {
  return SECRET_WORD.test(word) || SECRET_VALUE.test(word) || hasSecretName(word);
}

function ruleFor(tool: string, words: readonly string[], { isExact }: { readonly isExact: boolean }): PermissionRule | undefined {
  if (prefixProblem(words, isExact) !== undefined) return undefined;
  return checked({ effect: 'allow', tool, commandPrefix: words, ...(isExact ? { exact: true } : {}) });
}

/** This path and no other, with what the call reaches below it; none where it lies outside the workspace, holds secrets or decides what git runs. */
export function suggestForPath(tool: string, subject: Extract<PermissionSubject, { readonly kind: 'path' }>, workspaceDirectory: string): readonly PermissionRule[] {
  const { path, mount } = subject;
  const inside = mount === undefined ? workspacePath(path, workspaceDirectory) : path.slice(1);
  if (inside === undefined || /[*?]/.test(inside) || pathProblem(inside) !== undefined || inside.split('/').some(isNeverMeantByWildcard)) return [];
  const named = mount === undefined ? inside : path;
  const rule = checked({ effect: 'allow', tool, pathGlob: subject.reachesBelow === true ? `${named}/**` : named });
  return rule !== undefined && allowsPath(rule, subject, workspaceDirectory) ? [rule] : [];
}

/** Every call of the tool, unless it may destroy something, or set up a shell so that later commands do something else. */
export function suggestForTool({ name, destructive }: { readonly name: string; readonly destructive: boolean }): readonly PermissionRule[] {
  const rule = destructive || name.startsWith('shell_') ? undefined : checked({ effect: 'allow', tool: name });
  return rule === undefined ? [] : [rule];
}

function checked(rule: unknown): PermissionRule | undefined {
  const parsed = permissionRule.safeParse(rule);
  return parsed.success && formatRule(parsed.data).length <= MAX_RULE_CHARACTERS ? parsed.data : undefined;
}
