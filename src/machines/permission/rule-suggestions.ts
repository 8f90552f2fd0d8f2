/** The narrowest rules that would have made a question unnecessary: what a person may choose to allow for a session or for good. */
import { escalates, nameOf, prefixProblem } from './command-power.ts';
import { workspacePath } from './path-glob.ts';
import { MAX_RULE_CHARACTERS, formatRule, permissionRule } from './permission-rule.ts';
import type { PermissionRule } from './permission-rule.ts';
import type { PermissionSubject } from './permission-subject.ts';
import { allowsCommand, allowsPath } from './rule-match.ts';
import type { ShellCommand } from './shell-reading.ts';
import { isNeverMeantByWildcard, pathProblem } from './sensitive-path.ts';

/** How many words say what is done, where it is known that the rest does not matter. All others are suggested as a whole. */
const TELLING_WORDS: ReadonlyMap<string, number> = new Map([
  ...['npm test', 'npm ci', 'npm ls', 'npm outdated', 'npm audit', 'pnpm test', 'yarn test', 'bun test', 'cargo test', 'cargo build', 'cargo check', 'cargo clippy', 'cargo fmt'].map((text) => [text, 2] as const),
  ...['go test', 'go build', 'go vet', 'go fmt', 'git add', 'git commit', 'git status', 'git diff', 'git log', 'git show', 'git blame', 'git stash', 'dotnet test', 'dotnet build', 'deno test'].map((text) => [text, 2] as const),
  ...['npm run', 'pnpm run', 'yarn run', 'bun run'].map((text) => [text, 3] as const),
]);

/** Never offered for good: what destroys, what publishes, what leaves the machine. */
const DESTRUCTIVE = new Set(
  'rm rmdir unlink shred truncate dd mkfs fdisk parted mount umount chmod chown chgrp chattr kill pkill killall shutdown reboot halt systemctl service launchctl curl wget ssh scp sftp rsync nc ncat socat mv tee'.split(' '),
);

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

function suggestForCommand(tool: string, { argv }: ShellCommand): PermissionRule | undefined {
  const [word = '', second = '', third] = argv;
  const name = nameOf(word);
  // mkfs has a variant for each file system.
  if (DESTRUCTIVE.has(name) || name.startsWith('mkfs') || escalates(argv, 1)) return undefined;
  const count = TELLING_WORDS.get(`${word} ${second}`);
  const hasTellingWords = count !== undefined && (count < 3 || (third !== undefined && !third.startsWith('-')));
  const prefix = hasTellingWords ? argv.slice(0, count) : argv;
  const isExact = !hasTellingWords;
  if (prefixProblem(prefix, isExact) !== undefined) return undefined;
  const rule = checked({ effect: 'allow', tool, commandPrefix: prefix, ...(isExact ? { exact: true } : {}) });
  return rule !== undefined && allowsCommand(rule, { argv }) ? rule : undefined;
}

/** This path and no other, with what the call reaches below it; none where it lies outside the workspace, holds secrets or decides what git runs. */
export function suggestForPath(tool: string, subject: Extract<PermissionSubject, { readonly kind: 'path' }>, workspaceDirectory: string): readonly PermissionRule[] {
  const inside = workspacePath(subject.path, workspaceDirectory);
  if (inside === undefined || /[*?]/.test(inside) || pathProblem(inside) !== undefined || inside.split('/').some(isNeverMeantByWildcard)) return [];
  const rule = checked({ effect: 'allow', tool, pathGlob: subject.reachesBelow === true ? `${inside}/**` : inside });
  return rule !== undefined && allowsPath(rule, subject, workspaceDirectory) ? [rule] : [];
}

/** Every call of the tool, unless it may destroy something. */
export function suggestForTool({ name, destructive }: { readonly name: string; readonly destructive: boolean }): readonly PermissionRule[] {
  const rule = destructive ? undefined : checked({ effect: 'allow', tool: name });
  return rule === undefined ? [] : [rule];
}

function checked(rule: unknown): PermissionRule | undefined {
  const parsed = permissionRule.safeParse(rule);
  return parsed.success && formatRule(parsed.data).length <= MAX_RULE_CHARACTERS ? parsed.data : undefined;
}
