/** Small tools for tests of agent turns: they note that they ran. */
import { z } from 'zod';
import type { Tool } from '../../src/actors/turn/tool.ts';

export interface NotedTools {
  /** Names of the tools that ran, in the order in which they began. */
  readonly ran: string[];
  /** A tool that notes its run and gives its name back, or does what `run` does. It takes any object. */
  tool(
    name: string,
    options?: Partial<Tool['definition']> &
      Pick<Tool, 'subject' | 'question' | 'subflow' | 'stopGraceMs'> & { readonly run?: Tool['run'] | 'outside' },
  ): Tool;
}

export function noteTools(): NotedTools {
  const ran: string[] = [];
  return {
    ran,
    tool(name, { run, subject, question, subflow, stopGraceMs, ...changes } = {}) {
      const definition = {
        name,
        description: name,
        inputSchema: z.looseObject({}),
        ownership: 'managed',
        permissionPolicy: 'always_allow',
        readOnly: false,
        destructive: false,
        interruptBehavior: 'cancel',
        ...changes,
      } as const;
      const parts = {
        ...(subject === undefined ? {} : { subject }),
        ...(question === undefined ? {} : { question }),
        ...(subflow === undefined ? {} : { subflow }),
        stopGraceMs,
      };
      if (run === 'outside') return { definition, ...parts };
      return {
        definition,
        ...parts,
        run: async (input, context) => {
          ran.push(name);
          return run === undefined ? { name, input } : run(input, context);
        },
      };
    },
  };
}
