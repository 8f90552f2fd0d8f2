import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { askHumanDefinition } from '../../../src/machines/turn/ask-human.ts';
import { catalogueEntry, managedToolCatalogue, shapeText } from '../../../src/machines/turn/tool-catalogue.ts';
import type { ToolDefinition } from '../../../src/machines/turn/tool-definition.ts';

const tool = (more: Partial<ToolDefinition>): ToolDefinition => ({
  name: 'check',
  description: 'Checks.',
  inputSchema: z.strictObject({ path: z.string(), limit: z.number().optional() }),
  ownership: 'managed',
  permissionPolicy: 'always_allow',
  readOnly: true,
  destructive: false,
  interruptBehavior: 'cancel',
  ...more,
});

describe('the catalogue of managed tools', () => {
  it('reads off a definition what a tool takes, gives and can do', () => {
    const entry = catalogueEntry(
      tool({
        family: 'files',
        effects: ['reads_files'],
        outputSchema: z.object({ lines: z.array(z.string()), more: z.boolean().optional() }),
      }),
    );
    expect(entry).toMatchObject({ name: 'check', family: 'files', effects: ['reads_files'], idempotent: false });
    expect([shapeText(entry.input), entry.output === undefined ? '' : shapeText(entry.output)]).toEqual([
      'path limit?',
      'lines more?',
    ]);
  });

  it.each([
    [z.string(), 'text'],
    [z.array(z.string()), 'list'],
    [z.union([z.object({ a: z.string(), b: z.string() }), z.object({ a: z.string() })]), 'a b?'],
    [z.union([z.string(), z.object({ a: z.string() })]), 'one of several, such as a'],
    [z.unknown(), 'any'],
  ])('says of an output what it is', (outputSchema, words) => {
    const { output } = catalogueEntry(tool({ outputSchema }));
    expect(output === undefined ? '' : shapeText(output)).toBe(words);
  });

  it('takes the JSON Schema of a tool whose input somebody else checks', () => {
    expect(
      shapeText(
        catalogueEntry(
          tool({
            inputSchema: z.unknown(),
            inputJsonSchema: { type: 'object', properties: { q: {} }, required: ['q'] },
          }),
        ).input,
      ),
    ).toBe('q');
  });

  it('holds managed tools only, family by family', () => {
    const entries = managedToolCatalogue([
      tool({ name: 'a', family: 'network' }),
      tool({ name: 'b', ownership: 'mcp' }),
      askHumanDefinition,
      tool({ name: 'c', family: 'files' }),
      tool({ name: 'd' }),
    ]);
    expect(entries.map(({ name }) => name)).toEqual(['c', 'ask_human', 'a', 'd']);
  });
});
