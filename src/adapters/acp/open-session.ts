/**
 * Brings an agent to where it can be asked: the version of the protocol, the login, the session, and the settings that
 * were chosen for it.
 */
import type { McpServer } from '@agentclientprotocol/sdk';
import type { RunResumption } from '../../actors/run/agent-runtime.ts';
import { MODE_CATEGORY, readAnswer, settingOf } from './agent-answers.ts';
import type { Initialized, SessionState } from './agent-answers.ts';
import { decidesByItself } from '../../machines/run/asks-permission.ts';
import type { AgentLink } from './agent-link.ts';
import type { AcpMcpServer, AcpOptions } from './acp-settings.ts';
import { CLOSING_META } from './closed-workspace.ts';
import { RunFailed, agentErrorText, demandsAuthentication, isAgentError } from './run-failed.ts';

/** What leaves the choice of the model to the agent. */
const DEFAULT_MODEL = 'default';
const MODEL_CATEGORY = 'model';
/** Of what an agent offers, in a message. */
const MAX_NAMED = 20;

/** Claude Agent and Gemini CLI call it so. */
const ASKING_MODE = 'default';
const NO_SERVICES = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };

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
  /** Whether permissions bind what it does: then it must ask. */
  readonly permissionsBind: boolean;
  /** Resolves when the agent has said nothing for a moment. */
  readonly quiet: () => Promise<void>;
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
      clientCapabilities: offersServices ? options.options.clientCapabilities : NO_SERVICES,
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
  readonly #place: { readonly cwd: string; readonly mcpServers: readonly McpServer[]; readonly _meta: object };

  constructor(options: OpenSessionOptions, agent: Initialized) {
    this.#options = options;
    this.#agent = agent;
    this.#place = {
      cwd: options.workspaceDir,
      mcpServers: options.options.mcpServers.map((server) => this.#mcpServer(server)),
      _meta: CLOSING_META,
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
      // Gemini CLI tells what was said before only after it has answered.
      if (method === 'session/load') await this.#options.quiet();
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

  async #set(sessionId: string, state: SessionState): Promise<void> {
    const { options, model, permissionsBind } = this.#options;
    const settings = state.configOptions ?? [];
    if (model !== DEFAULT_MODEL) await this.#setModel(sessionId, state, model);
    for (const [id, value] of Object.entries(options.settings)) {
      if (!settings.some((setting) => setting.id === id))
        throw new RunFailed(
          'format',
          `it has no setting "${id}"; it has ${named(settings.map((setting) => setting.id))}`,
        );
      await this.#choose(sessionId, id, value);
    }
    const chosen = MODE_CATEGORY in options.settings ? undefined : (options.mode ?? askingMode(state, permissionsBind));
    if (chosen !== undefined) await this.#setMode(sessionId, state, chosen);
  }

  async #setModel(sessionId: string, { configOptions, models }: SessionState, model: string): Promise<void> {
    const setting = settingOf(configOptions ?? [], MODEL_CATEGORY);
    if (setting === undefined && (models ?? undefined) === undefined)
      throw new RunFailed(
        'model_not_found',
        `it lets no client choose its model, and "${model}" was asked for; the model "${DEFAULT_MODEL}" leaves the choice to it`,
      );
    const offered =
      setting?.options ?? (models?.availableModels ?? []).map(({ modelId, name }) => ({ value: modelId, name }));
    const found = offered.find(({ value }) => value === model) ?? offered.find(({ name }) => name === model);
    if (found === undefined)
      throw new RunFailed(
        'model_not_found',
        `it has no model "${model}"; it has ${named(offered.map(({ value }) => value))}`,
      );
    if (setting !== undefined) return this.#choose(sessionId, setting.id, found.value);
    const { link } = this.#options;
    await accepted(link.request('session/set_model', { sessionId, modelId: found.value }), `the model "${model}"`);
  }

  async #setMode(sessionId: string, { configOptions, modes }: SessionState, mode: string): Promise<void> {
    const setting = settingOf(configOptions ?? [], MODE_CATEGORY);
    const offered = modes?.availableModes.map(({ id }) => id) ?? setting?.options.map(({ value }) => value) ?? [];
    if (!offered.includes(mode)) throw new RunFailed('format', `it has no mode "${mode}"; it has ${named(offered)}`);
    if ((modes ?? undefined) === undefined && setting !== undefined) return this.#choose(sessionId, setting.id, mode);
    const { link } = this.#options;
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

/**
 * The mode in which an agent asks before it acts, for one that begins in a mode in which it decides that by itself:
 * what our permissions are asked, they bind.
 * @throws RunFailed where it has none, and permissions bind it
 */
function askingMode({ modes, configOptions }: SessionState, permissionsBind: boolean): string | undefined {
  const setting = settingOf(configOptions ?? [], MODE_CATEGORY);
  const begun = [modes?.currentModeId, setting?.currentValue].find(decidesByItself);
  if (begun === undefined) return undefined;
  const offered = modes?.availableModes.map(({ id }) => id) ?? setting?.options.map(({ value }) => value) ?? [];
  if (offered.includes(ASKING_MODE)) return ASKING_MODE;
  if (!permissionsBind) return undefined;
  throw new RunFailed(
    'format',
    `it begins in its mode "${begun}", in which it asks for nothing, and permissions bind it: set options.mode of the provider to one in which it asks; it has ${named(offered)}`,
  );
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
