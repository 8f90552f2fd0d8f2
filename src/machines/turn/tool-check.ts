/**
 * Checks a tool that a program brings, before a model is offered it: what is wrong with it would else show in the
 * middle of a wake.
 */
import { z } from 'zod';
import { toolName } from '../agent/tool-attachment.ts';
import { RuntimeError } from '../errors.ts';
import { parseOrThrow } from '../validate.ts';

const schema = z.custom<z.ZodType>(
  (value) => typeof value === 'object' && value !== null && 'safeParse' in value && '_zod' in value,
  'expected a schema of zod 4, such as z.strictObject({ … })',
);
const work = z.custom<unknown>((value) => typeof value === 'function', 'expected a function').optional();

const tool = z.looseObject({
  definition: z.looseObject({
    name: toolName,
    description: z.string(),
    inputSchema: schema,
    ownership: z.enum(['managed', 'mcp', 'custom']),
    permissionPolicy: z.enum(['always_allow', 'always_ask']),
    readOnly: z.boolean(),
    destructive: z.boolean(),
    idempotent: z.boolean().optional(),
    interruptBehavior: z.enum(['cancel', 'finish']),
  }),
  stopGraceMs: z.number().nonnegative().optional(),
  run: work,
  subject: work,
  question: work,
  subflow: work,
  unavailable: work,
});

/**
 * @throws RuntimeError TOOL_INVALID naming the tool and what is wrong with it; TOOL_EXISTS when two have the same name
 */
export function checkTools(tools: readonly unknown[]): void {
  const names = new Set<string>();
  for (const [index, each] of tools.entries()) {
    const { definition } = parseOrThrow(tool, each, {
      what: `tool ${index + 1}`,
      code: 'TOOL_INVALID',
      hint: 'See docs/tools.md for what a tool has to say of itself.',
    });
    if (names.has(definition.name))
      throw new RuntimeError('TOOL_EXISTS', `there are two tools "${definition.name}"`, {
        category: 'conflict',
        hint: 'Give every tool a name of its own; those of the managed tools are taken.',
      });
    names.add(definition.name);
  }
}
