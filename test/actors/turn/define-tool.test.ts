import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/index.ts';
import type { Tool, ToolContext } from '../../../src/index.ts';

const input = z.object({ build: z.string() });
const context = {} as ToolContext;

/** As a program in plain JavaScript may give it. */
const wrong = (options: object): unknown => {
  try {
    return defineTool(options as never);
  } catch (error) {
    return error;
  }
};

describe('a tool in code', () => {
  it('needs a name, an input and what it does; the rest is what is safest', async () => {
    const deploy = defineTool({ name: 'deploy', input, run: ({ build }) => ({ url: `https://test/${build}` }) });
    expect(deploy.definition).toMatchObject({
      name: 'deploy',
      description: 'deploy',
      inputSchema: input,
      ownership: 'managed',
      permissionPolicy: 'always_allow',
      readOnly: false,
      destructive: false,
      interruptBehavior: 'cancel',
    });
    expect(deploy.definition.idempotent ?? false).toBe(false);
    expect(await deploy.run?.({ build: 'b7' }, context)).toEqual({ url: 'https://test/b7' });
  });

  it('gets the input that its schema reads, by type too', () => {
    const tool = defineTool({
      name: 'wait',
      input: z.object({ seconds: z.number(), why: z.string().default('no reason') }),
      run: (given) => {
        expectTypeOf(given).toEqualTypeOf<{ seconds: number; why: string }>();
        return given.why;
      },
    });
    expectTypeOf(tool).toExtend<Tool>();
  });

  it('is described by its input where it says nothing itself', () => {
    const described = input.describe('Puts a build on the test server.');
    const run = (): undefined => undefined;
    expect(defineTool({ name: 'deploy', input: described, run }).definition.description).toBe(
      'Puts a build on the test server.',
    );
    expect(defineTool({ name: 'deploy', description: 'Mine.', input: described, run }).definition.description).toBe(
      'Mine.',
    );
  });

  it('says more where it wants to', () => {
    const tool = defineTool({
      name: 'deploy',
      input,
      run: () => 'done',
      permissionPolicy: 'always_ask',
      idempotent: true,
      interruptBehavior: 'finish',
      stopGraceMs: 100,
      subject: ({ build }) => ({ kind: 'path', access: 'write', path: build }) as never,
    });
    expect(tool.definition).toMatchObject({
      permissionPolicy: 'always_ask',
      idempotent: true,
      interruptBehavior: 'finish',
    });
    expect(tool).toMatchObject({ stopGraceMs: 100, subject: expect.any(Function) as unknown });
  });

  it('may be a method that uses what stands beside it, and what it throws is a rejection', async () => {
    const tool = defineTool({
      name: 'fail',
      input: z.object({}),
      run() {
        throw new Error(`not today, ${this.name}`);
      },
    });
    await expect(tool.run?.({}, context)).rejects.toThrow('not today, fail');
  });

  it.each<[string, object, string]>([
    [
      'without an input',
      { name: 'deploy', run: () => 1 },
      'tool "deploy" is not valid: input: expected a schema of zod 4',
    ],
    [
      'with a shape instead of a schema',
      { name: 'deploy', input: { a: z.string() }, run: () => 1 },
      'tool "deploy" is not valid: input: expected a schema of zod 4',
    ],
    ['that does nothing', { name: 'deploy', input }, 'tool "deploy" is not valid: run: expected a function'],
    [
      'with a misspelt key',
      { name: 'deploy', input, run: () => 1, permissionPolice: 'always_ask' },
      'permissionPolice',
    ],
    [
      'with a policy that there is not',
      { name: 'deploy', input, run: () => 1, permissionPolicy: 'never' },
      'tool "deploy" is not valid: permissionPolicy: ',
    ],
    [
      'whose input is no object',
      { name: 'deploy', input: z.string(), run: () => 1 },
      'tool "deploy" is not valid: input: expected the schema of an object, received one of string',
    ],
    [
      'whose input JSON Schema cannot say',
      { name: 'deploy', input: z.object({ at: z.date() }), run: () => 1 },
      'tool "deploy" is not valid: input: expected a schema that JSON Schema can say',
    ],
    [
      'whose name no model can call',
      { name: 'de ploy', input, run: () => 1 },
      'tool "de ploy" is not valid: name: expected a name of letters',
    ],
    ['without a name', { input, run: () => 1 }, 'a tool is not valid: name: '],
  ])('is refused %s', (_what, options, message) => {
    expect(wrong(options)).toMatchObject({
      code: 'TOOL_INVALID',
      category: 'validation',
      hint: expect.any(String) as unknown,
      message: expect.stringContaining(message) as unknown,
    });
  });
});
