/** What the app server of Codex asks its client, and how it is answered. */
import type { RunPermissionAnswer, RunToolMeaning } from '../../actors/run/agent-runtime.ts';
import type { CodexCall } from './codex-tools.ts';
import { callOf, mcpName, meaningOf } from './codex-tools.ts';
import { approvalParams, elicitation, refusalLine, resultLine } from './codex-protocol.ts';
import type { CodexItem, RpcId } from './codex-protocol.ts';
import type { CliFact } from './dialect.ts';

/** An item that is under way. */
export interface OpenItem {
  readonly callId: string;
  readonly threadId: string;
  readonly item: CodexItem;
}

interface Asked {
  readonly id: RpcId;
  readonly callName: string;
  readonly results: { readonly allow: unknown; readonly deny: unknown };
}

const APPROVAL = { allow: { decision: 'accept' }, deny: { decision: 'decline' } };
const ELICITATION = { allow: { action: 'accept', content: {} }, deny: { action: 'decline', content: null } };
const NOTHING_GRANTED = { permissions: {}, scope: 'turn' };
/** Beyond the workspace: a person is asked. */
const ANYWHERE = '/';

export class CodexAsks {
  readonly #asked = new Map<string, Asked>();
  readonly #openItem: (fits: (open: OpenItem) => boolean) => OpenItem | undefined;
  /** Calls of MCP servers that were asked for: the question does not name them. */
  readonly #askedCalls = new Set<string>();

  constructor(openItem: (fits: (open: OpenItem) => boolean) => OpenItem | undefined) {
    this.#openItem = openItem;
  }

  read(id: RpcId, method: string, params: unknown): readonly CliFact[] {
    // An answer could be taken for that to the other question.
    if (this.#asked.has(askIdOf(id))) return [reply(refusalLine(id, 'a question with this id is not answered yet'))];
    switch (method) {
      case 'item/commandExecution/requestApproval':
      case 'item/fileChange/requestApproval':
        return this.#readApproval(id, params);
      case 'mcpServer/elicitation/request':
        return this.#readElicitation(id, params);
      case 'item/permissions/requestApproval':
        return [reply(resultLine(id, NOTHING_GRANTED))];
      default:
        return [reply(refusalLine(id, `${method} is not supported here`))];
    }
  }

  /** The line that answers, and the name of the call that it is about. */
  answer(askId: string, { decision }: RunPermissionAnswer): { readonly text: string; readonly callName: string } {
    const asked = this.#asked.get(askId);
    if (asked === undefined) return { text: '', callName: 'unknown' };
    this.#asked.delete(askId);
    return { text: resultLine(asked.id, asked.results[decision]), callName: asked.callName };
  }

  /** It is told of each question that is not open any more, of those too that we have answered. */
  resolved(id: RpcId): readonly CliFact[] {
    const askId = askIdOf(id);
    return this.#asked.delete(askId) ? [{ kind: 'ask_withdrawn', askId }] : [];
  }

  #readApproval(id: RpcId, params: unknown): readonly CliFact[] {
    const { data } = approvalParams.safeParse(params);
    if (data === undefined) return [reply(resultLine(id, APPROVAL.deny))];
    const { itemId, threadId, kind, command, cwd, reason, grantRoot, networkApprovalContext } = data;
    const open = this.#openItem((each) => each.item.id === itemId && each.threadId === threadId);
    // What it asks for is what it is about to run, whatever it has told before.
    const item: CodexItem = {
      ...(open?.item ?? { id: itemId, type: 'commandExecution' }),
      ...(typeof command === 'string' ? { command } : {}),
      ...(typeof cwd === 'string' ? { cwd } : {}),
    };
    const callId = open?.callId ?? itemId;
    if (kind === 'writeStdin') {
      const call = { callId: `${callId}:stdin:${id}`, name: 'write_stdin', input: { command: callId, ...data } };
      return this.#ask(id, call, { kind: 'unclear', as: 'command', paths: [] }, APPROVAL);
    }
    const call = callOf(item, callId);
    if (call === undefined) return [reply(resultLine(id, APPROVAL.deny))];
    const leavesSandbox = [reason, grantRoot].some((each) => each !== undefined && each !== null);
    const means = leavesSandbox || networkApprovalContext !== undefined ? beyond(item, grantRoot) : meaningOf(item);
    return this.#ask(id, call, means, APPROVAL);
  }

  #readElicitation(id: RpcId, params: unknown): readonly CliFact[] {
    const { data } = elicitation.safeParse(params);
    const { codex_approval_kind: kind, tool_name: tool, tool_params: input } = data?._meta ?? {};
    // No person is there to answer what a server wants to know.
    if (data === undefined || kind !== 'mcp_tool_call') return [reply(resultLine(id, ELICITATION.deny))];
    const open = this.#openItem(
      ({ item, threadId, callId }) =>
        item.type === 'mcpToolCall' &&
        threadId === data.threadId &&
        item.server === data.serverName &&
        item.tool === tool &&
        !this.#askedCalls.has(callId),
    );
    const callId = open?.callId ?? `mcp:${id}`;
    this.#askedCalls.add(callId);
    const call = { callId, name: mcpName(data.serverName, tool), input: open?.item.arguments ?? input ?? {} };
    return this.#ask(id, call, undefined, ELICITATION);
  }

  #ask(id: RpcId, call: CodexCall, means: RunToolMeaning | undefined, results: Asked['results']): readonly CliFact[] {
    this.#asked.set(askIdOf(id), { id, callName: call.name, results });
    return [{ kind: 'asked', askId: askIdOf(id), request: { ...call, means } }];
  }
}

/** What would leave its sandbox is what leads out of the workspace: a person is asked. */
function beyond({ type, changes = [] }: CodexItem, grantRoot: string | null | undefined): RunToolMeaning {
  const paths = changes.map(({ path }) => path);
  return {
    kind: 'unclear',
    as: type === 'fileChange' ? 'write' : 'command',
    paths: [...paths, grantRoot ?? ANYWHERE],
  };
}

function askIdOf(id: RpcId): string {
  return JSON.stringify(id);
}

function reply(text: string): CliFact {
  return { kind: 'reply', text };
}
