/**
 * Brings an agent to where it can be asked: the version of the protocol, the login, the session, and the settings that
 * were chosen for it.
 */
import type { McpServer } from '@agentclientprotocol/sdk';
import type { RunResumption } from '../../actors/run/agent-runtime.ts';
import { readAnswer } from './agent-answers.ts';
import type { ConfigOption, Initialized, OpenedSession } from './agent-answers.ts';
import type { AgentLink } from './agent-link.ts';
import type { AcpMcpServer, AcpOptions } from './acp-settings.ts';
import { RunFailed, agentErrorText, demandsAuthentication, isAgentError } from './run-failed.ts';

/** What leaves the choice of the model to the agent. */
const DEFAULT_MODEL = 'default';
const MODEL_CATEGORY = 'model';
/** Of what an agent offers, in a message. */
const MAX_NAMED = 20;

export interface OpenSessionOptions {
  readonly link: AgentLink;
  readonly protocolVersion: number;
  readonly options: AcpOptions;
  readonly model: string;
  /** Absolute. */
  readonly workspaceDir: string;
  /** Whether a person can permit what the agent would have us do. */
  readonly offersServices: boolean;
  readonly resume: RunResumption | undefined;
}

export interface AgentSession {
  readonly sessionId: string;
  readonly takes: Initialized['agentCapabilities']['promptCapabilities'];
  /** Whether the session can go on in another run. */
  readonly canGoOn: boolean;
  readonly isResumed: boolean;
  /** Why the session that was to go on did not, as half a sentence. */
  readonly because: string | undefined;
}

/** @throws RunFailed, or what the agent answered */
export async function openSession(options: OpenSessionOptions): Promise<AgentSession> {
  const { link, protocolVersion, offersServices } = options;
  const agent = readAnswer(
    'initialize',
    await link.request('initialize', {
      protocolVersion,
      clientCapabilities: {
        fs: { readTextFile: offersServices, writeTextFile: offersServices },
        terminal: offersServices,
      },
      clientInfo: { name: 'wakechart', title: 'Wakechart', version: '1' },
    }),
  );
  if (agent.protocolVersion !== protocolVersion)
    throw new RunFailed(
      'format',
      `it speaks version ${agent.protocolVersion} of the Agent Client Protocol, expected version ${protocolVersion}`,
    );
  const session = await new SessionOpening(options, agent).open();
  const { promptCapabilities } = agent.agentCapabilities;
  return { ...session, takes: promptCapabilities, canGoOn: takeUpMethod(agent) !== undefined };
}

/** How the agent takes up a session, without telling it all again where it can. */
function takeUpMethod({ agentCapabilities }: Initialized): 'session/resume' | 'session/load' | undefined {
  if (agentCapabilities.sessionCapabilities.resume === true) return 'session/resume';
  return agentCapabilities.loadSession ? 'session/load' : undefined;
}

class SessionOpening {
  readonly #options: OpenSessionOptions;
  readonly #agent: Initialized;
  readonly #place: { readonly cwd: string; readonly mcpServers: readonly McpServer[] };

  constructor(options: OpenSessionOptions, agent: Initialized) {
    this.#options = options;
    this.#agent = agent;
    this.#place = {
      cwd: options.workspaceDir,
      mcpServers: options.options.mcpServers.map((server) => this.#mcpServer(server)),
    };
  }

  async open(): Promise<Pick<AgentSession, 'sessionId' | 'isResumed' | 'because'>> {
    const { resume } = this.#options;
    const because = resume === undefined ? undefined : await this.#takeUp(resume.sessionId);
    if (resume !== undefined && because === undefined) return { sessionId: resume.sessionId, isResumed: true, because };
    const session = readAnswer('session/new', await this.#loggedIn('session/new', this.#place));
    await this.#set(session.sessionId, session);
    return { sessionId: session.sessionId, isResumed: false, because };
  }

  /** Goes on with a session. A text says why that is not to be had. */
  async #takeUp(sessionId: string): Promise<string | undefined> {
    const method = takeUpMethod(this.#agent);
    if (method === undefined) return 'the agent cannot take up sessions';
    try {
      const state = readAnswer(method, await this.#loggedIn(method, { sessionId, ...this.#place }));
      await this.#set(sessionId, state ?? {});
      return undefined;
    } catch (error) {
      if (!isAgentError(error) || demandsAuthentication(error)) throw error;
      return agentErrorText(error);
    }
  }

  /** Asks for something that an agent may refuse to those who are not logged in. */
  async #loggedIn(method: string, params: object): Promise<unknown> {
    const { link } = this.#options;
    try {
      return await link.request(method, params);
    } catch (error) {
      if (!demandsAuthentication(error)) throw error;
      await this.#logIn(error as Error);
      return await link.request(method, params);
    }
  }

  async #logIn(demand: Error): Promise<void> {
    const { link, options } = this.#options;
    const { authMethods } = this.#agent;
    const offered = named(authMethods.map(({ id, name }) => (name === '' ? id : `${id} (${name})`)));
    const told = `it wants to be logged in: ${agentErrorText(demand)}`;
    if (options.authMethod === undefined)
      throw new RunFailed(
        'auth',
        `${told}. Log in with the program itself, or set options.authMethod of the provider to one that works without a person there: ${offered}`,
      );
    if (!authMethods.some(({ id }) => id === options.authMethod))
      throw new RunFailed(
        'auth',
        `${told}. It knows no way to log in called "${options.authMethod}"; it offers ${offered}`,
      );
    try {
      await link.request('authenticate', { methodId: options.authMethod });
    } catch (error) {
      if (!isAgentError(error)) throw error;
      throw new RunFailed('auth', `it could not log in by "${options.authMethod}": ${agentErrorText(error)}`, error);
    }
  }

  async #set(
    sessionId: string,
    { configOptions, modes }: Pick<OpenedSession, 'configOptions' | 'modes'>,
  ): Promise<void> {
    const { link, options, model } = this.#options;
    const settings = configOptions ?? [];
    if (model !== DEFAULT_MODEL) await this.#choose(sessionId, ...modelChoice(settings, model));
    for (const [id, value] of Object.entries(options.settings)) {
      if (!settings.some((setting) => setting.id === id))
        throw new RunFailed(
          'format',
          `it has no setting "${id}"; it has ${named(settings.map((setting) => setting.id))}`,
        );
      await this.#choose(sessionId, id, value);
    }
    const { mode } = options;
    if (mode === undefined) return;
    const offered = modes?.availableModes.map(({ id }) => id) ?? [];
    if (!offered.includes(mode)) throw new RunFailed('format', `it has no mode "${mode}"; it has ${named(offered)}`);
    await accepted(link.request('session/set_mode', { sessionId, modeId: mode }), `the mode "${mode}"`);
  }

  async #choose(sessionId: string, configId: string, value: string | boolean): Promise<void> {
    const choice = typeof value === 'boolean' ? { type: 'boolean', value } : { value };
    await accepted(
      this.#options.link.request('session/set_config_option', { sessionId, configId, ...choice }),
      `"${String(value)}" for its setting "${configId}"`,
    );
  }

  #mcpServer(server: AcpMcpServer): McpServer {
    const pairs = (values: Readonly<Record<string, string>>): { name: string; value: string }[] =>
      Object.entries(values).map(([name, value]) => ({ name, value }));
    if ('command' in server)
      return { name: server.name, command: server.command, args: [...server.args], env: pairs(server.env) };
    const { name, type, url, headers } = server;
    if (!this.#agent.agentCapabilities.mcpCapabilities[type])
      throw new RunFailed('format', `it cannot connect to MCP servers over ${type}, as "${name}" is one`);
    return { name, type, url, headers: pairs(headers) };
  }
}

/** The setting and the value for a model. @throws RunFailed when the agent does not offer it */
function modelChoice(settings: readonly ConfigOption[], model: string): [string, string] {
  const setting = settings.find(
    ({ category, id }) =>
      category === MODEL_CATEGORY || ((category ?? undefined) === undefined && id === MODEL_CATEGORY),
  );
  if (setting === undefined)
    throw new RunFailed(
      'model_not_found',
      `it lets no client choose its model, and "${model}" was asked for; the model "${DEFAULT_MODEL}" leaves the choice to it`,
    );
  const value =
    setting.options.find((option) => option.value === model) ?? setting.options.find(({ name }) => name === model);
  if (value === undefined)
    throw new RunFailed(
      'model_not_found',
      `it has no model "${model}"; it has ${named(setting.options.map((option) => option.value))}`,
    );
  return [setting.id, value.value];
}

/** A session that refuses what was chosen for it is there all the same: to begin another would not help. */
async function accepted(answer: Promise<unknown>, what: string): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (!isAgentError(error)) throw error;
    throw new RunFailed('format', `it refuses ${what}: ${agentErrorText(error)}`, error);
  }
}

function named(words: readonly string[]): string {
  if (words.length === 0) return 'none';
  return words.length <= MAX_NAMED
    ? words.join(', ')
    : `${words.slice(0, MAX_NAMED).join(', ')} and ${words.length - MAX_NAMED} more`;
}
