/**
 * What an agent tells while it works, read from its updates. Malformed ones and kinds that do not matter here are
 * passed over.
 */
import * as z from 'zod';
import { MODE_CATEGORY, configOptions, settingOf } from './agent-answers.ts';

/** Ids are made by programs; a longer one is none. */
const MAX_ID_CHARACTERS = 500;

const envelope = z.object({ sessionId: z.string(), update: z.looseObject({ sessionUpdate: z.string() }) });

const optional = <Shape extends z.ZodType>(shape: Shape) => shape.nullish().catch(undefined);

const contentBlock = z.looseObject({ type: z.string() });

const chunk = z.object({
  content: contentBlock,
  messageId: optional(z.string()),
  /** Claude Agent marks so what it says itself, such as a warning. */
  _meta: optional(z.object({ claudeCode: z.object({ kind: z.string() }) })),
});

const location = z.object({ path: z.string() });
const toolContent = z.looseObject({ type: z.string() });

/** Of a new call and of a change of one alike: agents change calls that they never told of. */
export const toolCallShape = z.object({
  toolCallId: z.string().min(1).max(MAX_ID_CHARACTERS),
  title: optional(z.string()),
  name: optional(z.string()),
  kind: optional(z.string()),
  status: optional(z.string()),
  content: optional(z.array(toolContent)),
  locations: optional(z.array(location)),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
});

const usage = z.object({ cost: z.object({ amount: z.number().nonnegative() }) });

export type ToolCallNews = Readonly<z.output<typeof toolCallShape>>;
export type ToolContent = Readonly<z.output<typeof toolContent>>;

export type AgentNews =
  | {
      readonly kind: 'said';
      readonly what: 'text' | 'reasoning';
      readonly messageId: string | undefined;
      readonly text: string;
    }
  | { readonly kind: 'tool'; readonly call: ToolCallNews }
  /** Of the whole session so far. */
  | { readonly kind: 'cost'; readonly amount: number }
  /** In which mode it goes on, by its id. */
  | { readonly kind: 'mode'; readonly mode: string };

export interface SessionUpdate {
  readonly sessionId: string;
  /**
   * Undefined for what does not matter here: plans, commands, what the user said, and what this adapter does not know.
   */
  readonly news: AgentNews | undefined;
}

/** Undefined for what is no update at all. */
export function readUpdate(params: unknown): SessionUpdate | undefined {
  const { data } = envelope.safeParse(params);
  return data === undefined ? undefined : { sessionId: data.sessionId, news: newsIn(data.update) };
}

function newsIn(update: z.output<typeof envelope>['update']): AgentNews | undefined {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      return saidIn(update, 'text');
    case 'agent_thought_chunk':
      return saidIn(update, 'reasoning');
    case 'tool_call':
    case 'tool_call_update': {
      const { data } = toolCallShape.safeParse(update);
      return data === undefined ? undefined : { kind: 'tool', call: data };
    }
    case 'usage_update': {
      const { data } = usage.safeParse(update);
      return data === undefined ? undefined : { kind: 'cost', amount: data.cost.amount };
    }
    case 'current_mode_update':
      return modeNews(update['currentModeId']);
    case 'config_option_update':
      return modeNews(
        settingOf(configOptions.safeParse(update['configOptions']).data ?? [], MODE_CATEGORY)?.currentValue,
      );
    default:
      return undefined;
  }
}

function modeNews(mode: unknown): AgentNews | undefined {
  return typeof mode === 'string' ? { kind: 'mode', mode } : undefined;
}

function saidIn(update: unknown, what: 'text' | 'reasoning'): AgentNews | undefined {
  const { data } = chunk.safeParse(update);
  return data === undefined || data._meta?.claudeCode.kind === 'informational'
    ? undefined
    : {
        kind: 'said',
        what,
        messageId: data.messageId ?? undefined,
        text: data.content['type'] === 'resource' ? quoted(blockText(data.content)) : blockText(data.content),
      };
}

/** What a file says, an agent does not: its words are shown between fences that nothing in them ends. */
function quoted(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `\n${fence}\n${text}\n${fence}\n`;
}

/** A content block as text, with a word for what is none. */
export function blockText(block: Readonly<Record<string, unknown>>): string {
  const { type, text, uri, resource } = block;
  if (type === 'text') return typeof text === 'string' ? text : '';
  if (type === 'resource_link') return `[${typeof uri === 'string' ? uri : 'a file'}]`;
  if (
    type === 'resource' &&
    typeof resource === 'object' &&
    resource !== null &&
    'text' in resource &&
    typeof resource.text === 'string'
  )
    return resource.text;
  return `[${typeof type === 'string' ? type : 'something'} that is no text]`;
}
