/**
 * The narrowest rules that would have made a question unnecessary: what a person may choose to allow for a session or
 * for good.
 */
import { plainArgv } from './command-name.ts';
import { prefixProblem } from './command-power.ts';
import { workspacePath } from './path-glob.ts';
import { MAX_RULE_CHARACTERS, formatRule, permissionRule } from './permission-rule.ts';
import type { PermissionRule } from './permission-rule.ts';
import type { PermissionSubject } from './permission-subject.ts';
import { allowsCommand, allowsPath } from './rule-match.ts';
import type { LinePlace } from './rule-match.ts';
import { hasSecretName, isNeverMeantByWildcard, pathProblem } from './sensitive-path.ts';
import { foldersOf, isSpelledOut } from './shell-reading.ts';
import type { ShellCommand } from './shell-reading.ts';

/** Beginnings that say what is done, whatever may follow them. All others are suggested as a whole line. */
const TELLING_BEGINNINGS: readonly (readonly string[])[] = [
  ...[
    'npm test',
    'pnpm test',
    'yarn test',
    'bun test',
    'npm ci',
    'cargo test',
    'cargo build',
    'cargo check',
    'cargo clippy',
    'cargo fmt',
    'go test',
    'go build',
    'go vet',
    'go fmt',
    'dotnet test',
    'dotnet build',
    'git commit -m',
  ],
].map((text) => text.split(' '));

/** Characters beyond which a person does not read a line before allowing it for good. */
const MAX_LINE_CHARACTERS = 200;

/** Never offered for good: what destroys, what publishes, what leaves the machine. */
const DESTRUCTIVE = new Set(
  'rm rmdir unlink shred truncate dd mkfs fdisk parted mount umount chmod chown chgrp chattr kill pkill killall shutdown reboot halt systemctl service launchctl curl wget ssh scp sftp rsync nc ncat socat mv tee'.split(
    ' ',
  ),
);

/** Options of git that throw work away, or run something. */
const DESTRUCTIVE_FOR_GIT = /^(?:--(?:forc|har|dele|mirr|prun|amen|no-verif|exec|ext-d|discard)|-[A-Za-z]*[fDx])/;

/** What the names of settings with secrets have in them. */
const SECRET_WORD = /pass(?:wor|wd|phr)|token|secret|api[-_]?key|auth|credential|bearer/i;

/** Long and mixed, as keys are; or a user with a password in an address. */
const SECRET_VALUE = /(?=[^\s/]*[0-9])(?=[^\s/]*[A-Za-z])[A-Za-z0-9+_=-]{32,}|:\/\/[^/\s]*@/;

/** What may be chosen, or why there is nothing to choose from, for people. */
export type Offer = { readonly rules: readonly PermissionRule[] } | { readonly whyNone: string };

/**
 * The rules that together allow the line, each in the folder where its command would run; none when a part of it should
 * be asked about each time.
 */
export function suggestForCommands(tool: string, commands: readonly ShellCommand[], place: LinePlace): Offer {
  const rules = new Map<string, PermissionRule>();
  for (const command of commands) {
    for (const folder of foldersOf(command)) {
      const offer = suggestForCommand(tool, command, { ...place, cwd: `${place.cwd}/${folder}` });
      if (typeof offer === 'string') return { whyNone: offer };
      rules.set(formatRule(offer), offer);
    }
  }
  return { rules: [...rules.values()] };
}

/** A text says why there is none. */
function suggestForCommand(tool: string, command: ShellCommand, place: LinePlace): PermissionRule | string {
  const { argv } = command;
  const [name = '', ...words] = plainArgv(argv);
  if (!isSpelledOut(command)) return `no rule can say what the shell gives to ${name}`;
  // mkfs has a variant for each file system.
  if (DESTRUCTIVE.has(name) || name.startsWith('mkfs')) return `${name} may destroy something or reach another machine`;
  if (name === 'git' && words.some((word) => DESTRUCTIVE_FOR_GIT.test(word)))
    return 'it may throw work away or run something';
  const folder = workspacePath(place.cwd, place.workspaceDirectory);
  const bound = folder === '' ? {} : { folder };
  const beginning = TELLING_BEGINNINGS.find((telling) => telling.every((word, index) => word === argv[index]));
  const rules = [
    ...(beginning === undefined ? [] : [{ commandPrefix: beginning }]),
    { commandPrefix: argv, exact: true as const },
  ];
  for (const wanted of rules) {
    if ('exact' in wanted && argv.join(' ').length > MAX_LINE_CHARACTERS)
      return 'it is too long to be judged at a glance';
    if ('exact' in wanted && argv.some(mayHoldSecret)) return 'it may hold a secret';
    const problem = prefixProblem(wanted.commandPrefix, 'exact' in wanted);
    const rule = problem === undefined ? checked({ effect: 'allow', tool, ...wanted, ...bound }) : undefined;
    if (rule !== undefined && allowsCommand(rule, { argv }, place)) return rule;
    if (problem !== undefined && 'exact' in wanted) return problem;
  }
  return 'no rule can be written that covers it and nothing else';
}

/** A path or a file by its name. What it is called says nothing about what is in the command. */
const FILE_NAME = /^[\w@][\w.@-]*(?:\/[\w.@-]+)+$|^[\w-]+(?:\.[A-Za-z]{1,5})+$/;

function mayHoldSecret(word: string): boolean {
  return (SECRET_WORD.test(word) && !FILE_NAME.test(word)) || SECRET_VALUE.test(word) || hasSecretName(word);
}

/**
 * This path and no other, with what the call reaches below it; none where it lies outside the workspace, holds secrets
 * or decides what git runs.
 */
export function suggestForPath(
  tool: string,
  subject: Extract<PermissionSubject, { readonly kind: 'path' }>,
  workspaceDirectory: string,
): readonly PermissionRule[] {
  const { path, mount } = subject;
  const inside = mount === undefined ? workspacePath(path, workspaceDirectory) : path.slice(1);
  if (
    inside === undefined ||
    /[*?]/.test(inside) ||
    pathProblem(inside) !== undefined ||
    inside.split('/').some(isNeverMeantByWildcard)
  )
    return [];
  const named = mount === undefined ? inside : path;
  const rule = checked({ effect: 'allow', tool, pathGlob: subject.reachesBelow === true ? `${named}/**` : named });
  return rule !== undefined && allowsPath(rule, subject, workspaceDirectory) ? [rule] : [];
}

/**
 * Every call of the tool, unless it may destroy something, or set up a shell so that later commands do something else.
 */
export function suggestForTool({
  name,
  destructive,
}: {
  readonly name: string;
  readonly destructive: boolean;
}): readonly PermissionRule[] {
  const rule = destructive || name.startsWith('shell_') ? undefined : checked({ effect: 'allow', tool: name });
  return rule === undefined ? [] : [rule];
}

function checked(rule: unknown): PermissionRule | undefined {
  const parsed = permissionRule.safeParse(rule);
  return parsed.success && formatRule(parsed.data).length <= MAX_RULE_CHARACTERS ? parsed.data : undefined;
}
