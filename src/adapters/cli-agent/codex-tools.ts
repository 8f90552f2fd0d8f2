/** The tools that Codex runs, as its items tell them. Plans and complaints are items too, and no tools. */
import { beginningOf } from '../../machines/cut-text.ts';
import type { BackendToolOutcome } from '../../machines/run/run-output.ts';
import { toolItem } from './codex-events.ts';
import type { CodexItem, CodexToolItem } from './codex-events.ts';
import type { CliFact } from './dialect.ts';
import { toolOutputText } from './tool-output.ts';

interface ToolKind {
  readonly name: (item: CodexToolItem) => string;
  readonly input: (item: CodexToolItem) => unknown;
  readonly output: (item: CodexToolItem) => unknown;
}

const TOOLS: Readonly<Record<string, ToolKind>> = {
  command_execution: {
    name: () => 'command_execution',
    input: ({ command = '' }) => ({ command }),
    output: ({ aggregated_output = '', exit_code }) => ({
      output: aggregated_output,
      ...(exit_code === undefined ? {} : { exitCode: exit_code }),
    }),
  },
  file_change: {
    name: () => 'file_change',
    input: ({ changes = [] }) => ({ changes }),
    output: ({ status = 'completed' }) => status,
  },
  mcp_tool_call: {
    name: ({ server = 'unknown', tool = 'unknown' }) => `mcp__${server}__${tool}`,
    input: ({ arguments: given }) => given ?? {},
    output: ({ result, error }) => error?.message ?? toolOutputText(contentOf(result)),
  },
  web_search: {
    name: () => 'web_search',
    input: ({ query = '' }) => ({ query }),
    output: () => 'The results were given to the model only.',
  },
};

/** Items that tell of nothing that was done. */
const NO_TOOLS: ReadonlySet<string> = new Set(['todo_list', 'error', 'reasoning', 'agent_message']);

const MAX_NAME_CHARACTERS = 200;

/**
 * What this adapter does not know may have done anything: were it passed over, a failed turn would be asked for once
 * more.
 */
function unknownTool({ id: _id, type, status, ...input }: CodexItem): ToolKind {
  return {
    name: () => beginningOf(type, MAX_NAME_CHARACTERS) || 'unknown',
    input: () => input,
    output: () => (typeof status === 'string' ? status : 'completed'),
  };
}

/** Anything else has not worked. */
const OUTCOMES: Readonly<Record<string, BackendToolOutcome>> = {
  completed: 'completed',
  declined: 'denied',
  cancelled: 'cancelled',
  canceled: 'cancelled',
};

/** It is told when it begins, or only when it is over; the ledger takes only the first request of an id. */
export function toolFacts(item: CodexItem, phase: 'started' | 'updated' | 'completed'): readonly CliFact[] | undefined {
  if (NO_TOOLS.has(item.type)) return [];
  const kind = (Object.hasOwn(TOOLS, item.type) ? TOOLS[item.type] : undefined) ?? unknownTool(item);
  const { data } = toolItem.safeParse(item);
  if (data === undefined) return undefined;
  const callId = item.id;
  const isOver = phase === 'completed';
  const outcome = OUTCOMES[data.status ?? 'completed'] ?? 'failed';
  return [
    { kind: 'tool_requested', callId, name: kind.name(data), input: kind.input(data) },
    ...(outcome === 'denied' && isOver ? [] : [{ kind: 'tool_started', callId } as const]),
    ...(isOver ? [{ kind: 'tool_ended', callId, outcome, output: kind.output(data) } as const] : []),
  ];
}

function contentOf(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'content' in result ? result.content : result;
}
