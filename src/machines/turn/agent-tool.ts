/** Tools that agent files define, as data: another agent, and a tool that a client runs. */
import * as z from 'zod';
import type { ToolAttachment } from '../agent/tool-attachment.ts';
import { MAX_MESSAGE_CHARACTERS } from '../session/limits.ts';
import { inputCheckOf } from './input-check.ts';
import type { ToolDefinition } from './tool-definition.ts';

const agentToolInput = z.strictObject({
  message: z
    .string()
    .min(1)
    .max(MAX_MESSAGE_CHARACTERS)
    .describe('What the agent is to do, with all that it needs to know: it sees nothing of this conversation.'),
});

export type AgentToolInput = z.output<typeof agentToolInput>;

/** What the other agent answered. `output` is all of it, `summary` how its turn ended. */
const agentToolOutput = z.looseObject({
  output: z.unknown(),
  summary: z.string(),
  agent: z.string(),
  sessionId: z.string(),
  worktree: z.unknown().optional(),
});

type AttachmentOf<Type extends ToolAttachment['type']> = Extract<ToolAttachment, { readonly type: Type }>;

export function agentToolDefinition(
  { name, description }: AttachmentOf<'agent'>,
  agent: { readonly name: string; readonly description: string },
): ToolDefinition<AgentToolInput> {
  return {
    name,
    description: description ?? `${agent.description || agent.name} (an agent of its own; its answer is the result)`,
    inputSchema: agentToolInput,
    outputSchema: agentToolOutput,
    ownership: 'managed',
    permissionPolicy: 'always_allow',
    effects: ['delegates'],
    // What it does is decided where it does it.
    readOnly: true,
    destructive: false,
    interruptBehavior: 'cancel',
  };
}

export function customToolDefinition({
  name,
  description,
  input,
  readOnly = false,
  permission = 'always_allow',
}: AttachmentOf<'custom'>): ToolDefinition {
  return {
    name,
    description,
    inputSchema: input === undefined ? z.record(z.string(), z.unknown()) : inputCheckOf(input),
    ...(input === undefined ? {} : { inputJsonSchema: input }),
    ownership: 'custom',
    permissionPolicy: permission,
    readOnly,
    destructive: false,
    interruptBehavior: 'cancel',
  };
}
