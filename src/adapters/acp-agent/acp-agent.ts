/**
 * An agent of the Agent Client Protocol over a runtime: editors such as Zed drive our sessions, and their permissions are
 * asked in the editor. Our sessions work with their own tools: files and terminals of the editor are not used.
 */
import { stat } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import type {
  AgentConnection,
  ContentBlock,
  InitializeResponse,
  ListSessionsResponse,
  SessionInfo,
} from '@agentclientprotocol/sdk';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import type { ProtocolRuntime } from '../../actors/protocol/protocol-runtime.ts';
import { createIdSource } from '../../actors/session/id-source.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { loadAcpAgentSdk } from './load-sdk.ts';
import type { AcpAgentSdk } from './load-sdk.ts';
import { OpenSession } from './open-session.ts';

export interface AcpAgentOptions {
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
  /** The agent of new sessions. Default: the only one that there is. */
  readonly agentId?: string | undefined;
  /** Where a session works; absolute. */
  readonly workspaceOf: (session: SessionState) => string;
  /** Hears trouble that ends nothing. */
  readonly onTrouble: (error: unknown) => void;
}

export interface AcpService {
  /** Resolves when the editor has gone. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Sessions that are listed at once: the newest. */
const MAX_LISTED = 100;

/** @throws RuntimeError ACP_SDK_MISSING, ACP_AGENT_UNCLEAR, AGENT_NOT_FOUND, AGENT_INVALID */
export async function serveAcp(runtime: ProtocolRuntime, options: AcpAgentOptions): Promise<AcpService> {
  const sdk = await loadAcpAgentSdk();
  const agentId = options.agentId ?? (await onlyAgent(runtime));
  await runtime.agents.get(agentId);
  return new ServedAgent(runtime, { ...options, agentId }, sdk);
}

class ServedAgent implements AcpService {
  readonly closed: Promise<void>;
  readonly #runtime: ProtocolRuntime;
  readonly #options: AcpAgentOptions & { readonly agentId: string };
  readonly #sdk: AcpAgentSdk;
  readonly #open = new Map<string, OpenSession>();
  readonly #ids = createIdSource({ clock: createSystemClock() });
  readonly #connection: AgentConnection;

  constructor(runtime: ProtocolRuntime, options: AcpAgentOptions & { readonly agentId: string }, sdk: AcpAgentSdk) {
    this.#runtime = runtime;
    this.#options = options;
    this.#sdk = sdk;
    this.#connection = this.#app().connect(
      sdk.ndJsonStream(
        // The streams of Node and of the Web are the same at run time; their types differ.
        Writable.toWeb(options.output),
        Readable.toWeb(options.input) as ReadableStream<Uint8Array>,
      ),
    );
    this.closed = this.#connection.closed.then(() => {
      for (const session of this.#open.values()) session.close();
    });
  }

  async close(): Promise<void> {
    this.#connection.close();
    await this.closed;
  }

  #app(): ReturnType<AcpAgentSdk['agent']> {
    return this.#sdk
      .agent({ name: 'wakechart' })
      .onRequest('initialize', () => this.#initialized())
      .onRequest('authenticate', () => ({}))
      .onRequest('session/new', ({ params }) => this.#answered(() => this.#create(params)))
      .onRequest('session/load', ({ params }) => this.#answered(() => this.#load(params.sessionId, { replays: true })))
      .onRequest('session/resume', ({ params }) =>
        this.#answered(() => this.#load(params.sessionId, { replays: false })),
      )
      .onRequest('session/list', ({ params }) => this.#answered(() => this.#list(params.cwd ?? undefined)))
      .onRequest('session/close', ({ params }) => this.#closeSession(params.sessionId))
      .onRequest('session/prompt', ({ params }) =>
        this.#answered(async () => {
          const text = promptText(params.prompt);
          return this.#opened(params.sessionId).prompt(text);
        }),
      )
      .onNotification('session/cancel', async ({ params }) => this.#open.get(params.sessionId)?.cancel());
  }

  #initialized(): InitializeResponse {
    return {
      protocolVersion: this.#sdk.PROTOCOL_VERSION,
      agentInfo: { name: 'wakechart', version: this.#options.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true, image: false, audio: false },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
    };
  }

  /** An error of ours is told with what to do; every other one is a defect. */
  async #answered<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!RuntimeError.is(error)) throw error;
      const { code, hint, message, category } = error;
      const told = `${message} [${code}]${hint === undefined ? '' : ` ${hint}`}`;
      const data = { code, hint };
      const { RequestError } = this.#sdk;
      throw category === 'validation' || category === 'not_found' || category === 'conflict'
        ? new RequestError(INVALID_PARAMS, told, data)
        : new RequestError(INTERNAL_ERROR, told, data);
    }
  }

  async #create({
    cwd,
    mcpServers,
  }: {
    readonly cwd: string;
    readonly mcpServers: readonly unknown[];
  }): Promise<{ readonly sessionId: string }> {
    await requireFolder(cwd);
    if (mcpServers.length > 0) this.#options.onTrouble(new Error(MCP_SERVERS_UNUSED));
    const { sessionId, head } = await this.#runtime.sessions.create(
      { agentId: this.#options.agentId },
      { workspace: cwd },
    );
    await this.#openFrom(sessionId, { from: 1, through: head });
    return { sessionId };
  }

  async #load(sessionId: string, { replays }: { readonly replays: boolean }): Promise<Record<string, never>> {
    const { head } = await this.#runtime.sessions.status(sessionId);
    await this.#openFrom(sessionId, { from: replays ? 1 : head + 1, through: head });
    return {};
  }

  async #openFrom(sessionId: string, reach: { readonly from: number; readonly through: number }): Promise<void> {
    this.#open.get(sessionId)?.close();
    const session = new OpenSession(sessionId, {
      sessions: this.#runtime.sessions,
      words: (id, options) => this.#runtime.words(id, options),
      client: this.#connection.client,
      ids: this.#ids,
      onTrouble: this.#options.onTrouble,
    });
    this.#open.set(sessionId, session);
    await session.show(reach);
  }

  #closeSession(sessionId: string): Record<string, never> {
    this.#open.get(sessionId)?.close();
    this.#open.delete(sessionId);
    return {};
  }

  async #list(cwd: string | undefined): Promise<ListSessionsResponse> {
    const states = await this.#runtime.sessions.list({ agentId: this.#options.agentId, newest: MAX_LISTED });
    const open = states.filter(({ status }) => status !== 'terminated');
    const infos = open.map((state) => this.#info(state));
    return { sessions: infos.filter((info) => cwd === undefined || info.cwd === cwd).toReversed() };
  }

  #info(state: SessionState): SessionInfo {
    const { sessionId, title, summary, updatedAt } = state;
    return {
      sessionId,
      cwd: this.#options.workspaceOf(state),
      title: title ?? summary ?? null,
      updatedAt: updatedAt ?? null,
    };
  }

  /** @throws RuntimeError ACP_SESSION_NOT_OPEN */
  #opened(sessionId: string): OpenSession {
    const session = this.#open.get(sessionId);
    if (session !== undefined) return session;
    throw new RuntimeError('ACP_SESSION_NOT_OPEN', `session ${sessionId} is not open in this connection`, {
      category: 'conflict',
      hint: 'Open it with session/new, session/load or session/resume.',
    });
  }
}

const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

const MCP_SERVERS_UNUSED = 'the MCP servers of the editor are not used: the tools of an agent are named in its file';

/** @throws RuntimeError ACP_FOLDER_INVALID */
async function requireFolder(path: string): Promise<void> {
  const problem = await stat(path).then(
    (found) => (found.isDirectory() ? undefined : 'it is no folder'),
    (error: unknown) => messageOf(error),
  );
  if (problem === undefined && path.startsWith('/')) return;
  throw new RuntimeError(
    'ACP_FOLDER_INVALID',
    `a session cannot work in ${JSON.stringify(path)}: ${problem ?? 'expected an absolute path'}`,
    { category: 'validation', hint: 'Open a folder in the editor, and start the session again.' },
  );
}

/** @throws RuntimeError ACP_AGENT_UNCLEAR */
async function onlyAgent({ agents }: ProtocolRuntime): Promise<string> {
  const [first, ...others] = await agents.list();
  if (first !== undefined && others.length === 0) return first.agentId;
  const there = first === undefined ? 'there is none' : [first, ...others].map(({ agentId }) => agentId).join(', ');
  throw new RuntimeError('ACP_AGENT_UNCLEAR', `expected --agent to say which agent the editor talks to: ${there}`, {
    category: 'validation',
    hint:
      first === undefined
        ? 'Make one: wakechart agent create helper --provider anthropic --model claude-sonnet-4-5'
        : 'Start it with --agent NAME.',
  });
}

// A prompt of an editor as the text of one message.

/** @throws RuntimeError ACP_PROMPT_INVALID for what was not offered, and for a prompt without text */
function promptText(blocks: readonly ContentBlock[]): string {
  const text = blocks.map(blockText).join('\n\n').trim();
  if (text === '') throw invalid('it holds no text');
  return text;
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[${block.name}](${block.uri})`;
    case 'resource':
      if ('text' in block.resource) return `${block.resource.uri}\n\`\`\`\n${block.resource.text}\n\`\`\``;
      throw invalid('it holds a file that is no text');
    case 'image':
    case 'audio':
      throw invalid(`it holds ${block.type}`);
  }
}

function invalid(why: string): RuntimeError {
  return new RuntimeError('ACP_PROMPT_INVALID', `the prompt cannot be taken: ${why}`, {
    category: 'validation',
    hint: 'Send text, links to files, or files of text.',
  });
}
