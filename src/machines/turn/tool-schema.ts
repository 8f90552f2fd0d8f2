/** Reads a tool's schema two ways: as JSON Schema for models, and as the check of what a model sent. */
import { z } from 'zod';
import { describeIssues } from '../validate.ts';
import type { ToolDefinition, ToolDescriptor } from './tool-definition.ts';

/** A definition never changes, and every wake asks for all of them. */
const described = new WeakMap<ToolDefinition, ToolDescriptor>();

export function describeTool(definition: ToolDefinition): ToolDescriptor {
  const { name, description, inputSchema, inputJsonSchema } = definition;
  const known = described.get(definition) ?? { name, description, inputSchema: inputJsonSchema ?? z.toJSONSchema(inputSchema, { io: 'input' }) };
  described.set(definition, known);
  return known;
}

export type ToolInputReading<Input> =
  | { readonly ok: true; readonly input: Input }
  /** In words for the model, which can correct itself. */
  | { readonly ok: false; readonly reason: string };

/** Checks what a model sent. Never throws: a bad call is a tool error for the model. */
export function readToolInput<Input>({ name, inputSchema }: ToolDefinition<Input>, input: unknown): ToolInputReading<Input> {
  const parsed = inputSchema.safeParse(input);
  if (parsed.success) return { ok: true, input: parsed.data };
  return { ok: false, reason: `The input of ${name} is not valid: ${describeIssues(parsed.error).join('; ')}.` };
}
