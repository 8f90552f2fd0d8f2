/** The stage with an agent on it that speaks the Agent Client Protocol, and what its tools are called and given. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProviderSettings } from '../../src/machines/run/provider-settings.ts';
import { offersNoTools } from '../support/http-models/conversation.ts';
import type { Conversation } from '../support/http-models/conversation.ts';
import type { RecordedRequest } from '../support/http-models/model-server.ts';
import type { ProgramName } from './programs.ts';
import { Stage } from './stage.ts';
import type { StageGround, StageOptions } from './stage.ts';
import { storyOf } from './story.ts';

export const ACP_PROGRAMS = ['opencode', 'gemini', 'claude-agent-acp'] as const satisfies readonly ProgramName[];
export type AcpProgram = (typeof ACP_PROGRAMS)[number];

type Use = readonly [name: string, input: unknown];

interface AcpKind {
  /** As our agent file names it, and as its server is asked. */
  readonly model: string;
  readonly servedAs: string;
  readonly provider: (ground: StageGround, seesImages: boolean) => ProviderSettings | Promise<ProviderSettings>;
  readonly command: (command: string) => Use;
  readonly read: (path: string) => Use;
  readonly write: (path: string, content: string) => Use;
  readonly edit: (path: string, from: string, to: string) => Use;
  readonly todo: (what: string) => Use;
  readonly subagent: (prompt: string) => Use;
}

/** OpenCode asks for nothing unless its own settings say so. */
const OPENCODE_ASKS = { edit: 'ask', bash: 'ask' } as const;

async function openCode({ server, userHome, program }: StageGround, seesImages: boolean): Promise<ProviderSettings> {
  const options = { baseURL: server.baseUrl('openai-chat'), apiKey: 'fixture' };
  const images = seesImages ? { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } } : {};
  const models = { 'model-1': { name: 'Model One', limit: { context: 100_000, output: 8_000 }, ...images } };
  const config = {
    provider: { fixture: { npm: '@ai-sdk/openai-compatible', name: 'Fixture', options, models } },
    small_model: 'fixture/model-1',
    enabled_providers: ['fixture'],
    permission: OPENCODE_ASKS,
    autoupdate: false,
    share: 'disabled',
  };
  const file = join(userHome, 'opencode.json');
  await writeFile(file, JSON.stringify(config));
  return { backend: 'acp', program: program({ OPENCODE_CONFIG: file, OPENCODE_DISABLE_MODELS_FETCH: '1' }, ['acp']) };
}

export const ACP_KINDS: Readonly<Record<AcpProgram, AcpKind>> = {
  opencode: {
    model: 'fixture/model-1',
    servedAs: 'model-1',
    provider: openCode,
    command: (command) => ['bash', { command, description: 'Works' }],
    read: (filePath) => ['read', { filePath }],
    write: (filePath, content) => ['write', { filePath, content }],
    edit: (filePath, oldString, newString) => ['edit', { filePath, oldString, newString }],
    todo: (content) => ['todowrite', { todos: [{ id: '1', content, status: 'in_progress', priority: 'high' }] }],
    subagent: (prompt) => ['task', { description: 'Helps', prompt, subagent_type: 'general' }],
  },
  gemini: {
    model: 'gemini-2.5-pro',
    servedAs: 'gemini-2.5-pro',
    provider: ({ server, program }) => ({
      backend: 'acp',
      program: program({ GOOGLE_GEMINI_BASE_URL: server.baseUrl('gemini'), GEMINI_API_KEY: 'fixture' }, ['--acp']),
      // It takes no answer of a client that says that a file is not there.
      options: { clientCapabilities: { fs: { readTextFile: false } } },
    }),
    command: (command) => ['run_shell_command', { command, description: 'Works' }],
    read: (path) => ['read_file', { file_path: path }],
    write: (path, content) => ['write_file', { file_path: path, content }],
    edit: (path, from, to) => [
      'replace',
      { file_path: path, old_string: from, new_string: to, instruction: 'Change it.', allow_multiple: false },
    ],
    todo: (description) => ['write_todos', { todos: [{ description, status: 'in_progress' }] }],
    subagent: (prompt) => ['invoke_agent', { agent_name: 'generalist', prompt }],
  },
  'claude-agent-acp': {
    model: 'default',
    servedAs: 'model-1',
    provider: ({ server, program }) => ({
      backend: 'acp',
      program: program({
        ANTHROPIC_BASE_URL: server.baseUrl('anthropic').replace(/\/v1$/, ''),
        ANTHROPIC_API_KEY: 'sk-ant-fixture',
        ANTHROPIC_MODEL: 'model-1',
        // It would try again for three minutes.
        CLAUDE_CODE_MAX_RETRIES: '0',
      }),
    }),
    command: (command) => ['Bash', { command, description: 'Works' }],
    read: (path) => ['Read', { file_path: path }],
    write: (path, content) => ['Write', { file_path: path, content }],
    edit: (path, from, to) => ['Edit', { file_path: path, old_string: from, new_string: to }],
    todo: (content) => ['TodoWrite', { todos: [{ content, status: 'in_progress', activeForm: 'Doing it' }] }],
    subagent: (prompt) => ['Agent', { description: 'Helps', prompt, subagent_type: 'general-purpose' }],
  },
};

export interface AcpStageOptions extends Partial<Omit<StageOptions, 'program' | 'provider'>> {
  /** By the id that it has for it. */
  readonly mode?: string;
  /** How long it may say nothing. */
  readonly idleTimeoutMs?: number;
  /** Whether it is to try a model only once, where it can be told so. */
  readonly triesOnce?: boolean;
  /** Whether its model takes images: OpenCode has to be told so. */
  readonly seesImages?: boolean;
}

export async function openAcp(
  program: AcpProgram,
  { agent, mode, idleTimeoutMs, triesOnce = false, seesImages = false, ...options }: AcpStageOptions = {},
): Promise<Stage> {
  const { provider, model } = ACP_KINDS[program];
  const settled = async (ground: StageGround): Promise<ProviderSettings> => {
    const settings = await provider(ground, seesImages);
    if (program === 'gemini' && triesOnce) await tryOnce(ground);
    return {
      ...settings,
      ...(mode === undefined ? {} : { options: { ...settings.options, mode } }),
      ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    };
  };
  return Stage.open({ program, provider: settled, agent: { model, ...agent }, conversation: { isSide }, ...options });
}

/** Gemini CLI would try a model ten times. */
async function tryOnce({ userHome }: StageGround): Promise<void> {
  await mkdir(join(userHome, '.gemini'), { recursive: true });
  await writeFile(join(userHome, '.gemini', 'settings.json'), JSON.stringify({ general: { maxAttempts: 1 } }));
}

/** Claude Agent asks what its user might say next. */
const isSide = (request: RecordedRequest): boolean =>
  offersNoTools(request) || request.text.includes('Reply with ONLY the suggestion');

/** What the story of a log says, whatever the folder is called. */
export async function told(stage: Stage, sessionId: string): Promise<readonly string[]> {
  const story = storyOf(await stage.log(sessionId));
  // What is cut at a place that depends on the name of the folder is cut before it.
  return story.map((line) => (line.endsWith('…') ? line.replace(/ \/.*$/, ' …') : line));
}

/** What the agent plays with its model. */
export function played(stage: Stage, program: AcpProgram): Conversation {
  return stage.conversation(ACP_KINDS[program].servedAs);
}
