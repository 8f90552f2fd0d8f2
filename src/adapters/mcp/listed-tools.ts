/**
 * The tools that a server lists, read with care: which of them can be offered to a model, under which name, and as
 * what.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { beginningOf } from '../../machines/cut-text.ts';
import { inputCheckOf } from '../../machines/turn/input-check.ts';
import type { ToolDefinition, ToolEffect } from '../../machines/turn/tool-definition.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { ResourceTool } from './resource-tools.ts';
import type { ServerSettings } from './server-settings.ts';

// The names under which models see the tools of a server: `<server>__<tool>`, made of letters, digits, `_` and `-`, 64
// at most.
//
// A name that fits stays as it is. What had to be changed and meets another, what is too long, and what could be read
// as a tool of another server ends in a hash of both names instead: the same in every wake, whatever else the server
// offers.

const MAX_CHARACTERS = 64;
const HASH_CHARACTERS = 8;
const SEPARATOR = '__';

/** The models' names of the tools, by the server's; `tools` without duplicates. */
export function modelNamesOf(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const wishes = tools.map((tool) => ({
    tool,
    wish: wishFor(server, tool),
    isExact: isPlain(server) && isPlain(tool),
  }));
  const counts = new Map<string, number>();
  for (const { wish } of wishes) counts.set(wish, (counts.get(wish) ?? 0) + 1);
  const needsHash = ({ wish, isExact }: (typeof wishes)[number]): boolean =>
    wish.length > MAX_CHARACTERS || isAmbiguous(server) || (!isExact && (counts.get(wish) ?? 0) > 1);
  return new Map(
    wishes.map((entry) => [
      entry.tool,
      needsHash(entry) ? withHash(entry.wish, `${server}\0${entry.tool}`) : entry.wish,
    ]),
  );
}

function wishFor(server: string, tool: string): string {
  const name = `${plain(server)}${SEPARATOR}${plain(tool)}`;
  // Some providers want a letter first.
  return /^[A-Za-z]/.test(name) ? name : `m${name}`;
}

function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
}

function isPlain(name: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(name);
}

/** `a` with `b__c` and `a__b` with `c` would be one; so would two servers whose names had to be changed. */
function isAmbiguous(server: string): boolean {
  return server.includes(SEPARATOR) || server.endsWith('_') || !/^[A-Za-z][A-Za-z0-9_-]*$/.test(server);
}

function withHash(wish: string, of: string): string {
  const hash = createHash('sha256').update(of).digest('hex').slice(0, HASH_CHARACTERS);
  return `${beginningOf(wish, MAX_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`;
}

const MAX_NAME_CHARACTERS = 1_000;
const MAX_DESCRIPTION_CHARACTERS = 4_000;
/** Of one schema, as JSON. */
const MAX_SCHEMA_CHARACTERS = 65_536;
/** Of all schemas and descriptions: what a model is shown with every step. */
const MAX_LIST_CHARACTERS = 2_000_000;
/** Names in one message about tools that are left out. */
const MAX_NAMED = 5;

type Input = Record<string, unknown>;

export interface ServerTool {
  /** What the server calls it. */
  readonly serverName: string;
  /** Ours: the server is not called for it, but asked for its resources. */
  readonly resourceTool?: ResourceTool | undefined;
  readonly definition: ToolDefinition<Input>;
}

export interface ListedTools {
  readonly tools: readonly ServerTool[];
  /** What cannot be offered and why, a line for each reason. */
  readonly leftOut: readonly string[];
}

export interface ListReading {
  readonly server: string;
  readonly settings: ServerSettings;
}

const listed = z.looseObject({
  name: z.string().min(1).max(MAX_NAME_CHARACTERS),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()).optional(),
  execution: z
    .looseObject({ taskSupport: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
  annotations: z
    .looseObject({
      readOnlyHint: z.boolean().optional().catch(undefined),
      destructiveHint: z.boolean().optional().catch(undefined),
      idempotentHint: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

type Listed = z.output<typeof listed>;

/** Keeps the first of two tools of one name. Never throws, whatever the list holds. */
export function readListedTools(given: readonly unknown[], { server, settings }: ListReading): ListedTools {
  const leftOut = new LeftOut(settings.redaction);
  const known = new Map<string, { readonly tool: Listed; readonly schema: Input }>();
  let room = MAX_LIST_CHARACTERS;
  for (const [index, item] of given.entries()) {
    const parsed = listed.safeParse(item);
    const tool = parsed.success ? parsed.data : undefined;
    const schema = tool === undefined ? undefined : objectSchemaOf(settings.redaction.json(tool.inputSchema));
    const size =
      schema === undefined
        ? 0
        : schema.characters + Math.min(tool?.description?.length ?? 0, MAX_DESCRIPTION_CHARACTERS);
    if (tool === undefined) leftOut.add('not well-formed', `number ${index + 1}`);
    else if (known.has(tool.name)) leftOut.add('named like another', tool.name);
    else if (tool.execution?.taskSupport === 'required')
      leftOut.add('run only as tasks of the protocol, which are not supported', tool.name);
    else if (schema === undefined)
      leftOut.add(`without an input schema of an object of at most ${MAX_SCHEMA_CHARACTERS} characters`, tool.name);
    else if (size > room)
      leftOut.add(`beyond ${MAX_LIST_CHARACTERS} characters of descriptions and schemas`, tool.name);
    else {
      known.set(tool.name, { tool, schema: schema.schema });
      room -= size;
    }
  }
  const names = modelNamesOf(server, [...known.keys()]);
  const tools = [...known.values()].map(({ tool, schema }) => ({
    serverName: tool.name,
    definition: definitionOf(tool, { name: names.get(tool.name) ?? tool.name, schema, settings }),
  }));
  return { tools, leftOut: leftOut.lines() };
}

interface DefinitionParts {
  readonly name: string;
  readonly schema: Input;
  readonly settings: ServerSettings;
}

/** What a server says of its own tools counts only where the agent file trusts it. */
function definitionOf(
  { name: serverName, title, description, annotations }: Listed,
  { name, schema, settings }: DefinitionParts,
): ToolDefinition<Input> {
  const believed = settings.trust ? (annotations ?? {}) : {};
  const readOnly = believed.readOnlyHint === true;
  const text = settings.redaction.text(description ?? title ?? serverName);
  return {
    name,
    description:
      text.length <= MAX_DESCRIPTION_CHARACTERS ? text : `${beginningOf(text, MAX_DESCRIPTION_CHARACTERS)} […]`,
    inputSchema: inputCheckOf(schema),
    inputJsonSchema: schema,
    ownership: 'mcp',
    permissionPolicy: 'always_allow',
    effects: effectsOf(settings.kind, readOnly),
    readOnly,
    destructive: !readOnly && believed.destructiveHint !== false,
    idempotent: readOnly || believed.idempotentHint === true,
    interruptBehavior: 'cancel',
  };
}

/** On this machine: what happens on that of a server elsewhere is unknown. */
function effectsOf(kind: ServerSettings['kind'], readOnly: boolean): readonly ToolEffect[] {
  if (kind === 'http') return ['uses_network'];
  return readOnly ? ['reads_files', 'uses_network'] : ['reads_files', 'writes_files', 'runs_processes', 'uses_network'];
}

/** The schema as it is, if models can be shown it. */
function objectSchemaOf(
  schema: Input | undefined,
): { readonly schema: Input; readonly characters: number } | undefined {
  const whole = { ...schema, type: schema?.['type'] ?? 'object' };
  if (whole.type !== 'object') return undefined;
  const characters = charactersOf(whole);
  return characters > MAX_SCHEMA_CHARACTERS ? undefined : { schema: whole, characters };
}

/** As JSON; nothing so deep that it cannot be written is shown. */
function charactersOf(value: unknown): number {
  try {
    return JSON.stringify(value).length;
  } catch {
    return Infinity;
  }
}

/** Tools by the reason for which they are left out. */
class LeftOut {
  readonly #names = new Map<string, string[]>();
  readonly #redaction: SecretRedaction;

  constructor(redaction: SecretRedaction) {
    this.#redaction = redaction;
  }

  add(reason: string, name: string): void {
    const names = this.#names.get(reason) ?? [];
    names.push(name);
    this.#names.set(reason, names);
  }

  lines(): readonly string[] {
    return [...this.#names].map(([reason, names]) => {
      const shown = names.slice(0, MAX_NAMED).map((name) => beginningOf(this.#redaction.text(name), 100));
      const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
      return `${names.length} left out, ${reason}: ${shown.join(', ')}${more}`;
    });
  }
}
