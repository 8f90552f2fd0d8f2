/** What the settings of a provider say about its agent, checked. */
import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import { settingsOf } from '../../machines/run/provider-settings.ts';
import type { ProviderTable } from '../../machines/run/provider-settings.ts';
import { triedProgramOf } from '../../machines/run/tried-programs.ts';
import type { TriedProgramName } from '../../machines/run/tried-programs.ts';
import { describeIssues } from '../../machines/validate.ts';
import { RunFailed } from './run-failed.ts';

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of one variable');
const name = z.string().min(1).max(200);

const mcpServer = z.union([
  z.strictObject({
    name,
    command: z.string().min(1),
    args: z.array(z.string()).max(200).default([]),
    env: z.record(variableName, z.string()).default({}),
  }),
  z.strictObject({
    name,
    type: z.enum(['http', 'sse']),
    url: z.url(),
    headers: z.record(z.string(), z.string()).default({}),
  }),
]);

/** The `options` of the settings. */
const acpOptions = z.strictObject({
  /** The variable in which the agent wants the secret of its account. */
  secretVariable: variableName.optional(),
  /** The id of the way to log in, for agents that demand one. It must work without a person there. */
  authMethod: name.optional(),
  /** What of ours it is offered. Default: all of it. */
  clientCapabilities: z
    .strictObject({
      fs: z
        .strictObject({ readTextFile: z.boolean().default(true), writeTextFile: z.boolean().default(true) })
        .prefault({}),
      terminal: z.boolean().default(true),
    })
    .prefault({}),
  /** The id of the agent's own mode. */
  mode: name.optional(),
  /** The agent's own settings, by their ids. */
  settings: z.record(name, z.union([z.string(), z.boolean()])).default({}),
  /** MCP servers that the agent starts or connects to. */
  mcpServers: z.array(mcpServer).max(50).default([]),
});

export type AcpOptions = Readonly<z.output<typeof acpOptions>>;
export type AcpMcpServer = AcpOptions['mcpServers'][number];

export interface AcpSettings {
  /** As it is written. */
  readonly command: string;
  /** Which program it is, of those that were tried. */
  readonly name: TriedProgramName | undefined;
  /** What is started: a mere name is left to PATH. */
  readonly program: string;
  readonly args: readonly string[];
  readonly pass: readonly string[];
  readonly set: Readonly<Record<string, string>>;
  readonly idleTimeoutMs: number | undefined;
  readonly options: AcpOptions;
}

/** @throws RunFailed `format` naming what is wrong */
export function acpSettingsOf(
  provider: string,
  { providers, agentDir }: { readonly providers: ProviderTable | undefined; readonly agentDir: string },
): AcpSettings {
  const settings = readSettings(provider, providers);
  const { program } = settings;
  if (program === undefined)
    throw new RunFailed(
      'format',
      `expected the provider "${provider}" to name its program (program.command), received none`,
    );
  const reading = acpOptions.safeParse(settings.options ?? {});
  if (!reading.success)
    throw new RunFailed(
      'format',
      `the options of the provider "${provider}" cannot be used: ${describeIssues(reading.error).join('; ')}`,
    );
  const { command, args, pass, set } = program;
  // A relative path starts where the agent's file lies.
  const place = command.includes('/') && !isAbsolute(command) ? resolve(agentDir, command) : command;
  return {
    command,
    name: triedProgramOf(settings),
    program: place,
    args,
    pass,
    set,
    idleTimeoutMs: settings.idleTimeoutMs,
    options: reading.data,
  };
}

function readSettings(
  provider: string,
  providers: ProviderTable | undefined,
): NonNullable<ReturnType<typeof settingsOf>> {
  let settings: ReturnType<typeof settingsOf>;
  try {
    settings = settingsOf(provider, providers);
  } catch (error) {
    const what = error instanceof z.ZodError ? describeIssues(error).join('; ') : 'they cannot be read';
    throw new RunFailed('format', `the settings of the provider "${provider}" cannot be used: ${what}`, error);
  }
  if (settings === undefined)
    throw new RunFailed(
      'format',
      `expected settings for the provider "${provider}" that name its program, received none`,
    );
  return settings;
}
