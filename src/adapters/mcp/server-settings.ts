/** What an agent file says about an MCP server, with its references resolved: everything that is needed to reach it. */
import { isAbsolute, resolve } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { DEFAULT_MCP_START_TIMEOUT_MS, DEFAULT_MCP_TIMEOUT_MS } from '../../machines/agent/mcp-server.ts';
import type { McpServer } from '../../machines/agent/mcp-server.ts';
import { Redaction } from './redaction.ts';

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
  readonly redaction: Redaction;
}

export interface HttpSettings extends SharedSettings {
  readonly kind: 'http';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly redaction: Redaction;
}

export type ServerSettings = StdioSettings | HttpSettings;

/** What a program needs to find itself and its files. Nothing in here is a secret. */
const INHERITED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TMP|TEMP)$/;

type Values = Readonly<Record<string, string | { readonly env: string }>>;

/** @throws RuntimeError MCP_VARIABLE_MISSING or MCP_VARIABLE_INVALID, naming the variable and never its value */
export function settingsOf(server: McpServer, { agentDirectory, environment }: { readonly agentDirectory: string; readonly environment: Environment }): ServerSettings {
  const { timeoutMs = DEFAULT_MCP_TIMEOUT_MS, startTimeoutMs = DEFAULT_MCP_START_TIMEOUT_MS, trust = false } = server;
  const secrets = new Map<string, string>();
  const shared = { timeoutMs, startTimeoutMs, trust };
  if ('url' in server) {
    const headers = resolved(server.headers ?? {}, { environment, secrets, refuse: /[\0\r\n]|[^\t\u0020-\u00ff]/ });
    return { kind: 'http', url: new URL(server.url), headers, redaction: new Redaction(secrets), ...shared };
  }
  const { command, args = [], cwd = '.', env = {} } = server;
  const inherited = Object.entries(environment).filter(([name, value]) => INHERITED.test(name) && value !== undefined && !value.startsWith('()'));
  const own = resolved(env, { environment, secrets, refuse: /\0/ });
  return {
    kind: 'stdio',
    command: command.startsWith('./') || command.startsWith('../') ? resolve(agentDirectory, command) : command,
    args,
    cwd: isAbsolute(cwd) ? cwd : resolve(agentDirectory, cwd),
    environment: { ...(Object.fromEntries(inherited) as Record<string, string>), ...own },
    redaction: new Redaction(secrets),
    ...shared,
  };
}

interface Resolution {
  readonly environment: Environment;
  /** Takes in what came by reference. */
  readonly secrets: Map<string, string>;
  /** What a value must not hold. */
  readonly refuse: RegExp;
}

function resolved(values: Values, { environment, secrets, refuse }: Resolution): Record<string, string> {
  const entries = Object.entries(values).map(([name, given]) => {
    const value = typeof given === 'string' ? given : environment[given.env];
    const where = typeof given === 'string' ? `the value of ${name}` : `the variable ${given.env}, which ${name} refers to,`;
    if (value === undefined) {
      throw new RuntimeError('MCP_VARIABLE_MISSING', `${where} is not set in the environment of the runtime`, {
        category: 'validation',
        hint: 'Set the variable where the runtime is started, or name another one in the agent file.',
      });
    }
    if (typeof given !== 'string') secrets.set(given.env, value);
    if (refuse.test(value)) {
      throw new RuntimeError('MCP_VARIABLE_INVALID', `${where} holds characters that cannot be sent, such as line ends`, {
        category: 'validation',
        hint: 'Look for a line end at the end of the value.',
      });
    }
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}
