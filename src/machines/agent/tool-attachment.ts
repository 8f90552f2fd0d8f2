/** How an agent file names the tools of its agent. */
import * as z from 'zod';
import { messageOf } from '../errors.ts';
import { agentId } from '../ids.ts';

/** What models accept as the name of a tool. */
export const toolName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
    'expected a name of letters, digits, "_" and "-", 64 at most, that begins with a letter',
  );

/** JSON Schema of an object. */
const inputSchema = z.looseObject({ type: z.literal('object') }).superRefine((schema, context) => {
  try {
    z.fromJSONSchema(schema);
  } catch (error) {
    context.addIssue({ code: 'custom', message: `expected a JSON Schema that can be checked: ${messageOf(error)}` });
  }
});

/** What the tools for the resources of an MCP server are called. */
export const RESOURCE_TOOLS = ['list_resources', 'read_resource'] as const;

export const toolAttachment = z.union([
  toolName.transform((name) => ({ type: 'builtin' as const, name })),
  /** Another agent: each call is a child session of its own. */
  z
    .strictObject({
      /** The agent that a call of this tool asks. */
      agent: agentId,
      /** What the model calls the tool. Default: the name of the agent. */
      name: toolName.optional(),
      /** What the model is told of it. Default, for an agent: the description of that. */
      description: z.string().max(1_000).optional(),
      /** `process`: it works in a process of its own. Default `in-process`. */
      run: z.enum(['in-process', 'process']).optional(),
      /**
       * `worktree`: it works in a git worktree of its own, made from the repository in the workspace. Default: in an
       * empty folder of its own.
       */
      isolation: z.enum(['none', 'worktree']).optional(),
    })
    .transform(({ agent, name, description, run, isolation }) => ({
      type: 'agent' as const,
      name: name ?? agent.replaceAll(/[^A-Za-z0-9_-]/g, '_'),
      agentId: agent,
      description,
      ...(run === 'process' ? { run } : {}),
      ...(isolation === 'worktree' ? { isolation } : {}),
    })),
  /** Tools of an MCP server that the file names under `mcp`: all of them, or those listed. */
  z
    .strictObject({
      /** The MCP server, as it is called under `mcp`. */
      mcp: z.string().min(1),
      /** Which of its tools. Default: all of them. */
      tools: z.array(z.string().min(1)).min(1).optional(),
      /** Whether the model may list and read its resources too. Default false. */
      resources: z.boolean().optional(),
    })
    .transform(({ mcp, tools, resources }) => ({
      type: 'mcp' as const,
      name: mcp,
      server: mcp,
      tools,
      ...(resources === true ? { resources } : {}),
    })),
  /** A tool that a client runs. */
  z
    .strictObject({
      /** A tool that runs outside: the session waits for its result. */
      custom: toolName,
      description: z.string().min(1).max(1_000),
      /** The JSON Schema of its input. */
      input: inputSchema.optional(),
      /** Whether it changes nothing. Default false. */
      readOnly: z.boolean().optional(),
      /** `always_ask`: a person is asked whatever the mode says. Default `always_allow`: the mode decides. */
      permission: z.enum(['always_allow', 'always_ask']).optional(),
    })
    .transform(({ custom, ...rest }) => ({ type: 'custom' as const, name: custom, ...rest })),
]);

export type ToolAttachmentInput = z.input<typeof toolAttachment>;
export type ToolAttachment = Readonly<z.output<typeof toolAttachment>>;

export function isResourceTool(name: string): boolean {
  return RESOURCE_TOOLS.some((each) => each === name);
}

/** The tools that an entry names one by one, by the names that their server has for them. */
export function namedTools({
  tools = [],
  resources,
}: Extract<ToolAttachment, { readonly type: 'mcp' }>): readonly string[] {
  return resources === true ? [...tools, ...RESOURCE_TOOLS] : tools;
}
