import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { askHumanDefinition } from '../../../src/machines/turn/ask-human.ts';
import { checkTools } from '../../../src/machines/turn/tool-check.ts';

const good = { definition: { ...askHumanDefinition, name: 'deploy' }, run: async () => undefined };
const withDefinition = (changes: object): object => ({ ...good, definition: { ...good.definition, ...changes } });

describe('a tool of a program', () => {
  it('is taken when it says all that has to be known of it', () => {
    expect(() => checkTools([good, withDefinition({ name: 'other', inputSchema: z.looseObject({}) })])).not.toThrow();
  });

  it.each<[string, unknown, RegExp]>([
    [
      'whose input is a JSON Schema',
      withDefinition({ inputSchema: { type: 'object' } }),
      /inputSchema: expected a schema of zod/,
    ],
    ['with a policy that nobody knows', withDefinition({ permissionPolicy: 'sometimes' }), /permissionPolicy/],
    ['that stops in a way that nobody knows', withDefinition({ interruptBehavior: 'never' }), /interruptBehavior/],
    ['whose name no model could say', withDefinition({ name: 'two words' }), /name: expected a name of letters/],
    ['that is run by something else than a function', { ...good, run: 'now' }, /run: expected a function/],
    ['that is nothing', undefined, /tools\[0\] is not valid/],
    ['with the name of another one', good, /two tools "deploy"/],
  ])('is refused %s', (what, bad, pattern) => {
    expect(() => checkTools(what.startsWith('with the name') ? [good, bad] : [bad])).toThrow(pattern);
  });
});
