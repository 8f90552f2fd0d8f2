/**
 * Checks a tool that a program brings, before a model is offered it: what is wrong with it would else show in the
 * middle of a wake.
 */
import * as z from 'zod';
import { toolName } from '../agent/tool-attachment.ts';
import { RuntimeError, messageOf } from '../errors.ts';
import { isRecord, parseOrThrow } from '../validate.ts';
import type { ToolDefinition } from './tool-definition.ts';
import { describeTool } from './tool-schema.ts';

const schema = z.custom<z.ZodType>(
  (value) => typeof value === 'object' && value !== null && 'safeParse' in value && '_zod' in value,
  'expected a schema of zod 4, such as z.object({ … })',
);
const work = z.custom<unknown>((value) => typeof value === 'function', 'expected a function');

const says = {
  permissionPolicy: z.enum(['always_allow', 'always_ask']),
  readOnly: z.boolean(),
  destructive: z.boolean(),
  interruptBehavior: z.enum(['cancel', 'finish']),
};

const tool = z.looseObject({
  definition: z.looseObject({
    ...says,
    name: toolName,
    description: z.string(),
    inputSchema: schema,
    ownership: z.enum(['managed', 'mcp', 'custom']),
    idempotent: z.boolean().optional(),
  }),
  stopGraceMs: z.number().nonnegative().optional(),
  run: work.optional(),
  subject: work.optional(),
  question: work.optional(),
  subflow: work.optional(),
  unavailable: work.optional(),
});

/** What `defineTool` takes. Unknown keys are errors: a misspelt `permissionPolicy` must not be none. */
const toolOptions = z.strictObject({
  name: toolName,
  input: schema,
  run: work,
  description: z.string().min(1).optional(),
  output: schema.optional(),
  ...z.object(says).partial().shape,
  idempotent: z.boolean().optional(),
  effects: z.array(z.string()).optional(),
  stopGraceMs: tool.shape.stopGraceMs,
  subject: work.optional(),
  unavailable: work.optional(),
});

const UNDEFINED_TOOL = 'Make it with defineTool({ name, input, run }); docs/tools.md has the other keys.';

/** @throws RuntimeError TOOL_INVALID naming the tool and what is wrong with it */
export function checkToolOptions(options: unknown): void {
  parseOrThrow(toolOptions, options, {
    what: calledTool(isRecord(options) ? options['name'] : undefined, 'a tool'),
    code: 'TOOL_INVALID',
    hint: `A tool needs name, input and run, and may have ${Object.keys(toolOptions.shape).slice(3).join(', ')}.`,
  });
}

/** Whether a model can be told of the input. @throws RuntimeError TOOL_INVALID */
export function checkShownInput(definition: ToolDefinition): void {
  const { name } = definition;
  const wrong = (what: string, cause?: unknown): RuntimeError =>
    new RuntimeError('TOOL_INVALID', `${calledTool(name, '')} is not valid: input: ${what}`, {
      category: 'validation',
      hint: 'A model is shown the JSON Schema of the input, whose keys are what it can pass: z.object({ … }).',
      cause,
    });
  let shown: Readonly<Record<string, unknown>>;
  try {
    ({ inputSchema: shown } = describeTool(definition));
  } catch (error) {
    throw wrong(`expected a schema that JSON Schema can say (${messageOf(error)})`, error);
  }
  if (shown['type'] !== 'object') throw wrong(`expected the schema of an object, received one of ${typeIn(shown)}`);
}

function typeIn({ type }: Readonly<Record<string, unknown>>): string {
  return typeof type === 'string' ? type : 'several kinds';
}

/**
 * @param where how errors name the list, as in `tools[2]` for a tool without a name
 * @throws RuntimeError TOOL_INVALID naming the tool and what is wrong with it; TOOL_EXISTS when two have the same name
 */
export function checkTools(tools: readonly unknown[], where = 'tools'): void {
  const names = new Set<string>();
  for (const [index, each] of tools.entries()) {
    const { definition } = parseOrThrow(tool, each, {
      what: calledTool(nameIn(each), `${where}[${index}]`),
      code: 'TOOL_INVALID',
      hint: UNDEFINED_TOOL,
    });
    if (names.has(definition.name))
      throw new RuntimeError('TOOL_EXISTS', `there are two tools "${definition.name}"`, {
        category: 'conflict',
        hint: 'Give every tool a name of its own; those of the managed tools are taken.',
      });
    names.add(definition.name);
  }
}

function nameIn(given: unknown): unknown {
  if (!isRecord(given)) return undefined;
  return isRecord(given['definition']) ? given['definition']['name'] : given['name'];
}

function calledTool(name: unknown, otherwise: string): string {
  return typeof name === 'string' && name !== '' ? `tool ${JSON.stringify(name.slice(0, 100))}` : otherwise;
}
