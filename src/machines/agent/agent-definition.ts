/**
 * What an agent is: who it is, which model speaks for it, what it may use. Written as Markdown with YAML frontmatter.
 */
import * as z from 'zod';
import { messageOf } from '../errors.ts';
import { parseRule } from '../permission/permission-rule.ts';
import { environmentId } from '../ids.ts';
import { modelChoice } from '../run/candidate.ts';
import type { ModelChoice } from '../run/candidate.ts';
import { MAX_MODEL_STEPS_PER_WAKE } from '../session/limits.ts';
import { mcpServer } from './mcp-server.ts';
import type { McpServer } from './mcp-server.ts';
import { namedTools, toolAttachment, toolName } from './tool-attachment.ts';
import type { ToolAttachment } from './tool-attachment.ts';

/** Characters of an agent file. */
export const MAX_AGENT_FILE_CHARACTERS = 256_000;

const text = z.string().trim().min(1);

/**
 * `preapproved`: only tools that always ask do ask. `ask`: every tool that changes something asks. `deny`: none runs.
 */
export const permissionMode = z.enum(['preapproved', 'ask', 'deny']);

/** Rules as people write them, without the effect that the key says: `shell_run(npm test)`. */
export const ruleTexts = (effect: 'allow' | 'ask' | 'deny'): z.ZodDefault<z.ZodArray<z.ZodString>> =>
  z.array(ruleText(effect)).max(200).default([]);

function ruleText(effect: string): z.ZodString {
  return z
    .string()
    .min(1)
    .max(500)
    .superRefine((rule, context) => {
      try {
        parseRule(`${effect} ${rule}`);
      } catch (error) {
        context.addIssue({ code: 'custom', message: messageOf(error) });
      }
    });
}

const NO_RULES: {
  readonly allow: string[];
  readonly ask: string[];
  readonly deny: string[];
  readonly expiresAfterSeconds?: number;
} = { allow: [], ask: [], deny: [] };

const permission = z
  .union([
    permissionMode.transform((mode) => ({ ...NO_RULES, mode })),
    z.strictObject({
      /** What is asked about where no rule says otherwise: `preapproved` what always asks, `ask` what changes something; `deny` runs nothing. */
      mode: permissionMode.default('ask'),
      /** Rules for calls that need no consent, such as `shell_run(npm test)`. */
      allow: ruleTexts('allow'),
      /** Rules for calls that a person is asked about. */
      ask: ruleTexts('ask'),
      /** Rules for calls that never run. */
      deny: ruleTexts('deny'),
      /** How long a request waits for an answer, in seconds; then the call is denied. Default: a week. */
      expiresAfterSeconds: z.number().int().min(1).max(31_536_000).optional(),
    }),
  ])
  .default({ ...NO_RULES, mode: 'preapproved' });

type AgentPermission = Readonly<z.output<typeof permission>>;

/** `provider/model`; what comes after the first "/" is the model. */
export const modelText = z.string().transform((written, context) => {
  const slash = written.indexOf('/');
  if (slash > 0 && slash < written.length - 1)
    return { provider: written.slice(0, slash).trim(), model: written.slice(slash + 1).trim() };
  context.addIssue({
    code: 'custom',
    message: `expected provider/model, such as openai/gpt-5-mini, received "${written}"`,
  });
  return z.NEVER;
});

const fallback = z.union([modelText, modelChoice.omit({ backend: true })]);

/** Bounds of what wakes and sessions may use up. */
export const agentBudget = z.strictObject({
  /** Calls of the model in one wake. */
  maxModelStepsPerWake: z.number().int().min(1).max(MAX_MODEL_STEPS_PER_WAKE).optional(),
  /** Input and output together, as far as the provider tells. */
  maxTokensPerWake: z.number().int().min(1).optional(),
  /** Over all wakes of a session. */
  maxTokensPerSession: z.number().int().min(1).optional(),
  /** In US dollars. Where the price of the model is not known, nothing runs. */
  maxCostPerWake: z.number().positive().optional(),
  /** The same, over all wakes of a session. */
  maxCostPerSession: z.number().positive().optional(),
  /** How often in a row the same call may come to the same result. */
  maxIdenticalCalls: z.number().int().min(1).optional(),
  /** Steps in a row of which nothing new comes. */
  maxStepsWithoutProgress: z.number().int().min(1).optional(),
  /** By the clock, with everything that the wake waits for. */
  maxSecondsPerWake: z.number().int().min(1).optional(),
  /** Wakes in a row that no client asked for; then the session is parked. */
  maxAutonomousWakes: z.number().int().min(0).optional(),
});

/** The frontmatter. Unknown keys are errors: a misspelled limit must not be no limit. */
export const agentFrontmatter = z.strictObject({
  /** For people: lists and pages show it. */
  name: text.max(100),
  /** For people, and for agents that may ask it. */
  description: z.string().trim().max(1_000).default(''),
  /** A label of yours, such as 1.4.0: the log says with each wake under which it ran. */
  version: text.max(64).optional(),
  /** For the script backend: the path of the script, from the folder of the agent file. */
  model: text,
  /** Which backend speaks: the provider's name. */
  provider: text,
  /** The tools it may use; when absent, the families of managed tools that are standard. */
  tools: z.array(toolAttachment).max(200).optional(),
  /** MCP servers, by the name under which `tools` takes tools of them. */
  mcp: z
    .record(
      z
        .string()
        .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'expected a name of lower-case letters, digits, "_" and "-", 32 at most'),
      mcpServer,
    )
    .optional(),
  /** What its tools may do without being asked about. A mode alone, or with rules. Default `preapproved`. */
  permission,
  /** What its wakes and sessions may use up. */
  budget: agentBudget.default({}),
  /** How much of the conversation the model is given. */
  context: z
    .strictObject({
      /** Tokens that the model is given to read, by estimate. */
      maxTokens: z.number().int().min(1_000).max(10_000_000).optional(),
      /**
       * What happens to what does not fit: it is left out, or the model writes a summary of it first. Default `omit`.
       */
      whenFull: z.enum(['omit', 'summarize']).optional(),
    })
    .default({}),
  /** The account that is to pay, whatever its health. Absent: all accounts of the provider, in turn. */
  profile: text.max(64).optional(),
  /** The only accounts that may pay, in this order. */
  profiles: z.array(text.max(64)).min(1).max(50).optional(),
  /** Models that are tried in order when the first cannot answer: `provider/model`, or the same with an account. */
  fallbacks: z.array(fallback).max(20).optional(),
  /**
   * The environment in which its sessions work. Default: the one that the runtime names, which is `host` unless it says
   * otherwise.
   */
  environment: environmentId.optional(),
  /** The only skills that it may use, by name. Default: all of its own and all that every agent may use. */
  skills: z.array(text.max(64)).max(200).optional(),
});

/** The frontmatter as a whole: what it names must be there, and no two tools may share a name. */
export const checkedFrontmatter = agentFrontmatter.superRefine(agreeing);

/** What one key of an agent has to do with another. */
export function agreeing(
  { tools = [], mcp = {}, profile, profiles }: Pick<AgentDefinition, 'tools' | 'mcp' | 'profile' | 'profiles'>,
  context: z.RefinementCtx,
): void {
  if (profile !== undefined && profiles !== undefined)
    context.addIssue({
      code: 'custom',
      path: ['profiles'],
      message: 'expected either one profile or a list of them, received both',
    });
  const names = new Set<string>();
  for (const [index, attachment] of tools.entries()) {
    for (const { path, message } of [...attachmentProblems(attachment, mcp), ...claim(namesOf(attachment), names)]) {
      context.addIssue({ code: 'custom', path: ['tools', index, ...path], message });
    }
  }
}

interface AttachmentProblem {
  readonly path: readonly string[];
  readonly message: string;
}

function attachmentProblems(
  attachment: ToolAttachment,
  servers: Readonly<Record<string, unknown>>,
): AttachmentProblem[] {
  const { type, name } = attachment;
  if (type === 'mcp' && !Object.hasOwn(servers, name))
    return [{ path: ['mcp'], message: `expected a server that "mcp" names, received "${name}"` }];
  if (type === 'agent' && !toolName.safeParse(name).success)
    return [{ path: ['name'], message: `expected a name for the tool, since no model could call it "${name}"` }];
  return [];
}

/** The names under which a model will see it, as far as the file tells. */
function namesOf(attachment: ToolAttachment): readonly string[] {
  if (attachment.type !== 'mcp') return [attachment.name];
  const { server } = attachment;
  return attachment.tools === undefined
    ? [`${server}__*`]
    : namedTools(attachment).map((tool) => (tool.startsWith(`${server}__`) ? tool : `${server}__${tool}`));
}

function claim(wanted: readonly string[], taken: Set<string>): AttachmentProblem[] {
  return wanted.flatMap((name) => {
    const other = holderOf(name, taken);
    taken.add(name);
    return other === undefined
      ? []
      : [
          {
            path: [],
            message:
              other === name
                ? `expected each tool once, "${name}" is named twice`
                : `expected each tool once, "${name}" is one of "${other}" already`,
          },
        ];
  });
}

/** Of those that are taken, the one that stands for this name too: `docs__*` stands for all that begin like it. */
function holderOf(name: string, taken: ReadonlySet<string>): string | undefined {
  if (taken.has(name)) return name;
  return [...taken].find(
    (other) =>
      (other.endsWith('*') && name.startsWith(other.slice(0, -1))) ||
      (name.endsWith('*') && other.startsWith(name.slice(0, -1))),
  );
}

export type AgentBudget = Readonly<z.output<typeof agentBudget>>;
export type AgentFrontmatter = z.input<typeof agentFrontmatter>;

export interface AgentDefinition {
  /** The name of its folder. */
  readonly agentId: string;
  readonly name: string;
  readonly description: string;
  readonly version?: string | undefined;
  readonly model: string;
  readonly provider: string;
  readonly profile?: string | undefined;
  readonly profiles?: readonly string[] | undefined;
  readonly fallbacks?: readonly ModelChoice[] | undefined;
  readonly tools?: readonly ToolAttachment[] | undefined;
  readonly mcp?: Readonly<Record<string, McpServer>> | undefined;
  readonly permission: AgentPermission;
  readonly context: Readonly<z.output<typeof agentFrontmatter>['context']>;
  readonly budget: AgentBudget;
  readonly environment?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  /** The body of the file: what the model is told. */
  readonly instructions: string;
}

/** The models that an agent may be run with, in the order in which they are tried. */
export function modelsOf({
  provider,
  model,
  profile,
  profiles,
  fallbacks = [],
}: Pick<AgentDefinition, 'provider' | 'model' | 'profile' | 'profiles' | 'fallbacks'>): readonly ModelChoice[] {
  const first = {
    provider,
    model,
    ...(profile === undefined ? {} : { profile }),
    ...(profiles === undefined ? {} : { profiles: [...profiles] }),
  };
  return [first, ...fallbacks];
}
