/** A tool that a program brings: a name, what it takes and what it does; the rest is what is safest. */
import { checkShownInput, checkToolOptions } from '../../machines/turn/tool-check.ts';
import type { ToolDefinition } from '../../machines/turn/tool-definition.ts';
import type { Tool, ToolContext } from './tool.ts';

export interface ToolOptions<Input> extends Partial<
  Pick<ToolDefinition, 'effects' | 'readOnly' | 'destructive' | 'idempotent' | 'permissionPolicy' | 'interruptBehavior'>
> {
  /** Letters, digits, "_" and "-": models call it by this. */
  readonly name: string;
  /** For the model: what it does, when to use it. Default: what `input.describe()` says, else its name. */
  readonly description?: string | undefined;
  /** Of an object. It checks what a model sends, before anything else happens. */
  readonly input: ToolDefinition<Input>['inputSchema'];
  /** Of the result, for people who read which tools there are. */
  readonly output?: ToolDefinition['outputSchema'];
  /** The result is a JSON value for the model; what it throws is told to the model. */
  readonly run: (input: Input, context: ToolContext) => unknown;
  /** As of `Tool`. */
  readonly stopGraceMs?: number | undefined;
  readonly subject?: Tool<Input>['subject'] | undefined;
  readonly unavailable?: Tool['unavailable'] | undefined;
}

/**
 * Makes a tool for `createNodeRuntime({ tools })`, or for the tools of one agent. What it does not say is what is
 * safest: it changes things, a call that was cut off is not made again, rules and the agent's mode decide whether it
 * runs.
 * @throws RuntimeError TOOL_INVALID naming the tool and what is wrong with it
 */
export function defineTool<Input>(options: ToolOptions<Input>): Tool<Input> {
  checkToolOptions(options);
  const { name, description, input, output, run: _run, stopGraceMs, subject, unavailable, ...says } = options;
  const definition: ToolDefinition<Input> = {
    ownership: 'managed',
    permissionPolicy: 'always_allow',
    readOnly: false,
    destructive: false,
    interruptBehavior: 'cancel',
    ...said(says),
    name,
    description: description ?? input.description ?? name,
    inputSchema: input,
    ...said({ outputSchema: output }),
  };
  checkShownInput(definition);
  return Object.freeze({
    definition: Object.freeze(definition),
    run: async (given: Input, context: ToolContext) => options.run(given, context),
    ...said({ stopGraceMs, subject, unavailable }),
  });
}

/** Without what is undefined. */
function said<Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as never;
}
