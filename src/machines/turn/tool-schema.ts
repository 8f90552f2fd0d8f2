/** Reads a tool's schema two ways: as JSON Schema for models, and as the check of what a model sent. */
import * as z from 'zod';
import { describeIssues } from '../validate.ts';
import type { ToolDefinition, ToolDescriptor } from './tool-definition.ts';

/** A definition never changes, and every wake asks for all of them. */
const described = new WeakMap<ToolDefinition, ToolDescriptor>();

export function describeTool(definition: ToolDefinition): ToolDescriptor {
  const { name, description, inputSchema, inputJsonSchema } = definition;
  const known = described.get(definition) ?? {
    name,
    description,
    inputSchema: inputJsonSchema ?? z.toJSONSchema(inputSchema, { io: 'input' }),
  };
  described.set(definition, known);
  return known;
}

export type ToolInputReading<Input> =
  | { readonly ok: true; readonly input: Input }
  /** In words for the model, which can correct itself. */
  | { readonly ok: false; readonly reason: string };

/** Checks what a model sent. Never throws: a bad call is a tool error for the model. */
export function readToolInput<Input>(
  { name, inputSchema }: ToolDefinition<Input>,
  input: unknown,
): ToolInputReading<Input> {
  const parsed = inputSchema.safeParse(input);
  if (parsed.success) return { ok: true, input: parsed.data };
  return {
    ok: false,
    reason:
      brokenJson(name, input) ??
      `The input of ${name} is not valid: ${describeIssues(parsed.error, inputSchema).join('; ')}.`,
  };
}

/** Characters that are shown of where arguments break. */
const SHOWN_CHARACTERS = 60;

/**
 * Arguments that no backend could read come as the text that the model wrote: why they cannot be read, in words for the
 * model.
 */
function brokenJson(name: string, input: unknown): string | undefined {
  if (typeof input !== 'string' || isJson(input)) return undefined;
  const place = brokenAt(input);
  const shown = JSON.stringify(input.slice(Math.max(0, place - SHOWN_CHARACTERS), place));
  const begins = `The arguments of ${name} are not valid JSON: they`;
  if (place === input.length)
    return `${begins} end at character ${place}, after ${shown}, before they are complete; perhaps the limit of output cut them off. Nothing was run. Send them whole, in smaller pieces if they are long.`;
  return `${begins} break at character ${place + 1} of ${input.length}, after ${shown}. Nothing was run. Send one JSON object.`;
}

/** How many characters are a beginning of JSON. */
function brokenAt(text: string): number {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isBeginning(text.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What the engine says of a text that only lacks its end. */
function isBeginning(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const { position } = /position (?<position>\d+)/.exec(String(error))?.groups ?? {};
    return (
      /end of JSON|unterminated/i.test(String(error)) || (position !== undefined && Number(position) >= text.length)
    );
  }
}
