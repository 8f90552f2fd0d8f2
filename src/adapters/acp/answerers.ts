/** What an agent may ask us while a turn is under way, and who answers it. */
import { isUtf8 } from 'node:buffer';
import type {
  PermissionOption,
  ReadTextFileRequest,
  ReadTextFileResponse,
  RequestPermissionResponse,
  WriteTextFileRequest,
} from '@agentclientprotocol/sdk';
import type { ToolLedger } from '../../actors/run/tool-ledger.ts';
import type { Answerers } from './agent-link.ts';
import { RequestRefused } from './agent-link.ts';
import type { PermissionGate } from './permission-gate.ts';
import type { ServedCalls } from './served-calls.ts';
import type { ToolCallNews } from './session-updates.ts';
import { toolCallShape } from './session-updates.ts';
import type { Terminals } from './terminals.ts';
import type { ToolCalls } from './tool-calls.ts';
import { placeInWorkspace, readWorkspaceFile, writeWorkspaceFile } from './workspace-files.ts';

// Serves an agent that reads and writes files through us.

/** Of one file, read or written. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

interface FileRequestsOptions {
  readonly served: ServedCalls;
  readonly calls: ToolCalls;
  /** Absolute. */
  readonly workspaceDir: string;
}

async function readTextFile(
  { path, line, limit }: ReadTextFileRequest,
  { served, workspaceDir }: FileRequestsOptions,
): Promise<ReadTextFileResponse> {
  const input = {
    path,
    ...(typeof line === 'number' ? { line } : {}),
    ...(typeof limit === 'number' ? { limit } : {}),
  };
  const prepare = () => placed(path, { workspaceDir, kind: 'read' });
  return served.serve({ name: 'fs/read_text_file', input, prepare }, async (place) => {
    await stillThere(path, { place, workspaceDir });
    const bytes = await readWorkspaceFile(place, MAX_FILE_BYTES);
    if (!isUtf8(bytes)) throw new RequestRefused('invalid', `${path} is no text in UTF-8`);
    const content = linesOf(bytes.toString('utf8'), line ?? 1, limit ?? undefined);
    return { result: { content }, shown: `${content.length} characters were read.` };
  });
}

async function writeTextFile(
  { path, content }: WriteTextFileRequest,
  { served, calls, workspaceDir }: FileRequestsOptions,
): Promise<object> {
  const prepare = async () => {
    const bytes = Buffer.byteLength(content);
    if (bytes > MAX_FILE_BYTES)
      throw new RequestRefused('invalid', `the content has ${bytes} bytes, and ${MAX_FILE_BYTES} are written at most`);
    return placed(path, { workspaceDir, kind: 'write' });
  };
  // OpenCode and Gemini CLI have us write what their own tool has asked for and shown: a person is not asked twice.
  const isAllowed = calls.hasAllowedWrite(path, content);
  return served.serve({ name: 'fs/write_text_file', input: { path, content }, isAllowed, prepare }, async (place) => {
    await stillThere(path, { place, workspaceDir });
    await writeWorkspaceFile(place, Buffer.from(content));
    return { result: {}, shown: `${content.length} characters were written.` };
  });
}

async function placed(
  path: string,
  { workspaceDir, kind }: { readonly workspaceDir: string; readonly kind: 'read' | 'write' },
) {
  const { real, named } = await placeInWorkspace(path, workspaceDir);
  return { prepared: real, means: { kind, path: named } };
}

/** It may have taken long until it was allowed. */
async function stillThere(
  path: string,
  { place, workspaceDir }: { readonly place: string; readonly workspaceDir: string },
): Promise<void> {
  const { real } = await placeInWorkspace(path, workspaceDir);
  if (real !== place) throw new RequestRefused('failed', `${path} leads somewhere else now than when it was allowed`);
}

/** Lines `first` (from 1) on, `count` of them at most, with their ends as they are. */
function linesOf(text: string, first: number, count: number | undefined): string {
  if (first <= 1 && count === undefined) return text;
  const lines = text.split('\n');
  const start = Math.max(0, first - 1);
  const chosen = lines.slice(start, count === undefined ? undefined : start + count);
  const isCut = start + chosen.length < lines.length;
  return chosen.join('\n') + (isCut && chosen.length > 0 ? '\n' : '');
}

// Answers an agent that asks whether it may run a tool of its own: for this once, and never for good, since it is our
// rules that remember.

const CANCELLED: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };

interface PermissionQuestion {
  readonly toolCall: ToolCallNews;
  readonly options: readonly PermissionOption[];
}

interface PermissionQuestionsOptions {
  readonly gate: PermissionGate;
  readonly calls: ToolCalls;
  readonly ledger: ToolLedger;
  readonly onNews: (message: string) => void;
}

async function answerQuestion(
  { toolCall, options }: PermissionQuestion,
  { gate, calls, ledger, onNews }: PermissionQuestionsOptions,
): Promise<RequestPermissionResponse> {
  const request = calls.request(toolCall);
  // What has ended needs no permission, and gets none.
  if (request === undefined) return CANCELLED;
  const { decision } = await gate.ask(request);
  if (!gate.isOpen) {
    ledger.denied(request.callId);
    return CANCELLED;
  }
  const choice = options.find(({ kind }) => kind === (decision === 'allow' ? 'allow_once' : 'reject_once'));
  if (decision === 'allow' && choice === undefined)
    onNews(`it was allowed to run ${request.name}, but offers no way to say so for this once`);
  // Told before the agent hears of it: what has not been told must not run.
  if (decision === 'allow' && choice !== undefined) {
    ledger.started(request.callId);
    calls.allowed(request.callId);
  } else ledger.denied(request.callId);
  return choice === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId: choice.optionId } };
}

export interface AnswerersOptions {
  readonly gate: PermissionGate;
  readonly calls: ToolCalls;
  readonly ledger: ToolLedger;
  readonly served: ServedCalls;
  readonly terminals: Terminals;
  /** Absolute. */
  readonly workspaceDir: string;
  /** Whether it is that of the turn that is under way. */
  readonly isOurs: (sessionId: string) => boolean;
  readonly onRequest: () => void;
  readonly onNews: (message: string) => void;
}

export function answerers(options: AnswerersOptions): Answerers {
  const { terminals, isOurs } = options;
  const ours =
    <Params extends { readonly sessionId: string }, Answer>(answer: (params: Params) => Answer) =>
    async (params: Params): Promise<Awaited<Answer>> => {
      if (!isOurs(params.sessionId))
        throw new RequestRefused(
          'invalid',
          `There is no turn under way in the session ${JSON.stringify(params.sessionId.slice(0, 200))}.`,
        );
      return await answer(params);
    };
  return {
    'session/request_permission': ours(({ toolCall, options: choices }) => {
      const reading = toolCallShape.safeParse(toolCall);
      if (!reading.success) throw new RequestRefused('invalid', 'expected a tool call with an id');
      options.onRequest();
      return answerQuestion({ toolCall: reading.data, options: choices }, options);
    }),
    'fs/read_text_file': ours((params) => readTextFile(params, options)),
    'fs/write_text_file': ours((params) => writeTextFile(params, options)),
    'terminal/create': ours((params) => terminals.create(params)),
    'terminal/output': ours(({ terminalId }) => terminals.output(terminalId)),
    'terminal/wait_for_exit': ours(({ terminalId }) => terminals.waitForExit(terminalId)),
    'terminal/kill': ours(({ terminalId }) => terminals.kill(terminalId)),
    'terminal/release': ours(({ terminalId }) => terminals.release(terminalId)),
  };
}
