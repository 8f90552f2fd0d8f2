/** What an agent file says about an MCP server, with its references resolved: everything that is needed to reach it. */
import { isAbsolute, resolve } from 'node:path';
import type { SessionEnvironment } from '../../actors/environment/session-environment.ts';
import { NO_SECRETS } from '../../actors/environment/session-secrets.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { DEFAULT_MCP_START_TIMEOUT_MS, DEFAULT_MCP_TIMEOUT_MS } from '../../machines/agent/mcp-server.ts';
import type { McpServer } from '../../machines/agent/mcp-server.ts';
import { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import { isLoopbackName } from '../system/loopback.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

interface SharedSettings {
  /** For one call without progress. */
  readonly timeoutMs: number;
  readonly startTimeoutMs: number;
  readonly trust: boolean;
}

export interface StdioSettings extends SharedSettings {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** The whole environment, but for the mark of its process tree. */
  readonly environment: Readonly<Record<string, string>>;
  readonly redaction: SecretRedaction;
}

export interface HttpSettings extends SharedSettings {
  readonly kind: 'http';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly redaction: SecretRedaction;
}

export type ServerSettings = StdioSettings | HttpSettings;

/** What a program needs to find itself and its files. Nothing in here is a secret. */
const INHERITED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TMP|TEMP)$/;

type Value = string | { readonly env: string } | { readonly vault: string; readonly prefix?: string | undefined };

type Values = Readonly<Record<string, Value>>;

export interface SettingsSource {
  readonly agentDirectory: string;
  /** Of the runtime. */
  readonly environment: Environment;
  /** Of the session. */
  readonly session?: SessionEnvironment | undefined;
}

/**
 * @throws RuntimeError MCP_VARIABLE_MISSING, MCP_VARIABLE_INVALID, MCP_FOLDER_HIDDEN, NETWORK_DISABLED,
 * SECRET_NEEDS_HTTPS and what SessionSecrets throws, naming the variable or the secret and never its value
 */
export function settingsOf(
  server: McpServer,
  { agentDirectory, environment, session }: SettingsSource,
): ServerSettings {
  const { timeoutMs = DEFAULT_MCP_TIMEOUT_MS, startTimeoutMs = DEFAULT_MCP_START_TIMEOUT_MS, trust = false } = server;
  const secrets = new Map<string, string>();
  const shared = { timeoutMs, startTimeoutMs, trust };
  if ('url' in server) {
    if (session?.definition.network === 'disabled') throw networkDisabled(session.definition.environmentId);
    const url = new URL(server.url);
    const headers = resolved(server.headers ?? {}, {
      environment,
      secrets,
      secretOf: (reference) => secretForHost(session, reference, url),
      refuse: /[\0\r\n]|[^\t\u0020-\u00ff]/,
    });
    return {
      kind: 'http',
      url,
      headers,
      redaction: new SecretRedaction(secrets, { beside: session?.secrets }),
      ...shared,
    };
  }
  const { command, args = [], cwd = '.', env = {} } = server;
  const inherited = Object.entries(environment).filter(
    ([name, value]) => INHERITED.test(name) && value !== undefined && !value.startsWith('()'),
  );
  const own = resolved(env, {
    environment,
    secrets,
    secretOf: (reference) => secretsOf(session).forCommand(reference),
    refuse: /\0/,
  });
  const program = {
    command: command.startsWith('./') || command.startsWith('../') ? resolve(agentDirectory, command) : command,
    args,
  };
  const folder = isAbsolute(cwd) ? cwd : resolve(agentDirectory, cwd);
  const {
    command: started,
    args: words,
    cwd: startedIn,
  } = session?.sandbox === undefined
    ? { ...program, cwd: folder }
    : inSandbox(session, program, server.cwd === undefined ? undefined : folder);
  return {
    kind: 'stdio',
    command: started,
    args: words,
    cwd: startedIn,
    environment: { ...(Object.fromEntries(inherited) as Record<string, string>), ...own },
    redaction: new SecretRedaction(secrets, { beside: session?.secrets }),
    ...shared,
  };
}

interface Resolution {
  readonly environment: Environment;
  readonly secretOf: (reference: string) => string;
  /** Takes in what came by reference. */
  readonly secrets: Map<string, string>;
  /** What a value must not hold. */
  readonly refuse: RegExp;
}

function resolved(values: Values, { environment, secrets, secretOf, refuse }: Resolution): Record<string, string> {
  const entries = Object.entries(values).map(([name, given]) => {
    const value =
      typeof given === 'string'
        ? given
        : 'vault' in given
          ? `${given.prefix ?? ''}${secretOf(given.vault)}`
          : environment[given.env];
    const where = whereOf(name, given);
    if (value === undefined) {
      throw new RuntimeError('MCP_VARIABLE_MISSING', `${where} is not set in the environment of the runtime`, {
        category: 'validation',
        hint: 'Set the variable where the runtime is started, or name another one in the agent file.',
      });
    }
    if (typeof given !== 'string' && 'env' in given) secrets.set(given.env, value);
    if (refuse.test(value)) {
      throw new RuntimeError(
        'MCP_VARIABLE_INVALID',
        `${where} holds characters that cannot be sent, such as line ends`,
        {
          category: 'validation',
          hint: 'Search for a line end at the end of the value.',
        },
      );
    }
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}

function whereOf(name: string, given: Value): string {
  if (typeof given === 'string') return `the value of ${name}`;
  return 'vault' in given
    ? `the secret ${given.vault}, which ${name} refers to,`
    : `the variable ${given.env}, which ${name} refers to,`;
}

function secretsOf(session: SessionEnvironment | undefined): SessionEnvironment['secrets'] {
  return session?.secrets ?? NO_SECRETS;
}

/** Over a wire that others can read, no secret is sent. */
function secretForHost(
  session: SessionEnvironment | undefined,
  reference: string,
  { protocol, host, hostname }: URL,
): string {
  if (protocol === 'https:' || isLoopbackName(hostname)) return secretsOf(session).forHost(reference, host);
  throw new RuntimeError(
    'SECRET_NEEDS_HTTPS',
    `the secret "${reference}" is sent over https only, and to this machine itself; the server is at ${protocol}//${host}`,
    {
      category: 'permission',
      hint: 'Reach the server over https.',
    },
  );
}

/**
 * The program sees what the commands of the session see: it begins in the workspace, unless it is told to begin in
 * another folder that is mounted.
 */
function inSandbox(
  { sandbox, mounts }: SessionEnvironment,
  program: { readonly command: string; readonly args: readonly string[] },
  folder: string | undefined,
): { readonly command: string; readonly args: readonly string[]; readonly cwd: string } {
  const cwd = folder ?? mounts.find(({ kind }) => kind === 'workspace')?.directory;
  const isSeen = mounts.some(
    ({ directory, access }) =>
      access !== 'none' && directory !== undefined && (cwd === directory || cwd?.startsWith(`${directory}/`) === true),
  );
  if (sandbox === undefined || cwd === undefined || !isSeen) {
    throw new RuntimeError(
      'MCP_FOLDER_HIDDEN',
      `the program would begin in ${cwd ?? 'a folder that is not there'}, which is not mounted in its sandbox`,
      {
        category: 'permission',
        hint: 'Leave "cwd" out, to begin in the workspace, or mount the folder in the environment file.',
      },
    );
  }
  return { ...sandbox.wrapProgram(program, cwd), cwd };
}

function networkDisabled(environmentId: string): RuntimeError {
  return new RuntimeError(
    'NETWORK_DISABLED',
    `the environment "${environmentId}" has no network, and the server would be reached over it`,
    {
      category: 'permission',
      hint: 'Say "network: open" in the environment file, or leave the server out of the agent file.',
    },
  );
}
