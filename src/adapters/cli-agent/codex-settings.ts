/** What the options of a provider come to for Codex: arguments of its app server, and how its threads are begun. */
import { SettingsRefused } from './dialect.ts';
import { tomlOverrides, tomlValue } from './program-options.ts';

type Options = Readonly<Record<string, unknown>>;

export interface CodexSettings {
  readonly args: readonly string[];
  readonly sandbox: string;
  readonly approvalPolicy: string;
}

export interface CodexSettingsGiven {
  readonly options: Options;
  /** Whether permissions bind what it does: then it asks before each command and change, else its sandbox decides. */
  readonly permissionsBind: boolean;
  /** Whether an account of ours pays: it is kept in memory only. */
  readonly hasKey: boolean;
  /** All paths of the workspace: as it is named, and where its links lead. */
  readonly workspacePaths: readonly string[];
}

const SANDBOXES: readonly unknown[] = ['read-only', 'workspace-write', 'danger-full-access'];
const POLICIES: readonly unknown[] = ['untrusted', 'on-request', 'never'];
/** Either means: no sandbox, and no question. */
const BYPASSES: readonly string[] = ['dangerously-bypass-approvals-and-sandbox', 'yolo'];
/** What its app server takes as it is. */
const LISTS: readonly string[] = ['enable', 'disable'];
const KNOWN: ReadonlySet<string> = new Set([
  'sandbox',
  'ask-for-approval',
  'add-dir',
  'config',
  'strict-config',
  // The app server works outside of repositories too.
  'skip-git-repo-check',
  ...BYPASSES,
  ...LISTS,
]);

/** @throws SettingsRefused */
export function codexSettings({ options, permissionsBind, hasKey, workspacePaths }: CodexSettingsGiven): CodexSettings {
  const unknown = Object.keys(options).find((name) => !KNOWN.has(name));
  if (unknown !== undefined)
    throw new SettingsRefused(
      `expected options that the app server of Codex takes (${[...KNOWN].join(', ')}), received ${JSON.stringify(unknown)}; its settings are given as "config"`,
    );
  const bypasses = BYPASSES.some((name) => options[name] === true);
  return {
    args: ['app-server', ...argumentsOf(options, hasKey, closedWorkspace(workspacePaths))],
    sandbox: bypasses ? 'danger-full-access' : oneOf('sandbox', options, SANDBOXES, 'workspace-write'),
    approvalPolicy: bypasses
      ? 'never'
      : oneOf('ask-for-approval', options, POLICIES, permissionsBind ? 'untrusted' : 'never'),
  };
}

/** Settings that stand beside those of its file, and would be passed over in there. */
const APART: Readonly<Record<string, string>> = { sandbox_mode: 'sandbox', approval_policy: 'ask-for-approval' };

/**
 * What a repository holds, or its user has trusted, must not widen what our permissions bind. A thread that may write
 * would have the workspace trusted for good, in the user's own settings: then MCP servers, hooks and rules of its
 * `.codex` run outside of the sandbox, unasked. No folder above it counts as the project, which may be trusted.
 */
function closedWorkspace(workspacePaths: readonly string[]): readonly string[] {
  const untrusted = Object.fromEntries(workspacePaths.map((path) => [path, { trust_level: 'untrusted' }]));
  return [...tomlOverrides({ project_root_markers: [] }), `projects=${tomlValue(untrusted, ['projects'])}`];
}

function argumentsOf(options: Options, hasKey: boolean, closing: readonly string[]): readonly string[] {
  const { config = {}, 'add-dir': folders } = options;
  for (const [name, option] of Object.entries(APART))
    if (isTable(config) && name in config)
      throw new SettingsRefused(`expected "${name}" of Codex as the option "${option}", not in its "config"`);
  const overrides = [
    // It would wait for a network that does not come back for ever.
    'features.unbounded_connection_retries=false',
    // It would go on by itself after its turn, where no log tells what it does.
    'features.goals=false',
    ...(hasKey ? ['cli_auth_credentials_store="ephemeral"'] : []),
    ...(folders === undefined
      ? []
      : tomlOverrides({ sandbox_workspace_write: { writable_roots: textsIn('add-dir', folders) } })),
    // What is said later holds.
    ...tomlOverrides(config),
    ...closing,
  ];
  return [
    ...overrides.flatMap((override) => ['--config', override]),
    ...(options['strict-config'] === true ? ['--strict-config'] : []),
    ...LISTS.flatMap((name) =>
      options[name] === undefined ? [] : textsIn(name, options[name]).map((text) => `--${name}=${text}`),
    ),
  ];
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function oneOf(name: string, options: Options, allowed: readonly unknown[], otherwise: string): string {
  const value = options[name] ?? otherwise;
  if (typeof value === 'string' && allowed.includes(value)) return value;
  throw new SettingsRefused(
    `expected the option "${name}" to be one of ${allowed.join(', ')}, received ${JSON.stringify(value)}`,
  );
}

function textsIn(name: string, value: unknown): readonly string[] {
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map((text) => {
    if (typeof text === 'string') return text;
    throw new SettingsRefused(
      `expected the option "${name}" to be a text or a list of texts, received ${JSON.stringify(value)}`,
    );
  });
}
