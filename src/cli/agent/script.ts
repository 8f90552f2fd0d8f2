/** The script of an agent that plays one: it travels with the agent file that names it. */
import { writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, sep } from 'node:path';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { SCRIPT_RUNTIME_ID } from '../../adapters/script/script-agent-runtime.ts';
import { MAX_SCRIPT_CHARACTERS } from '../../machines/session/session-script.ts';
import { parseScript } from '../../adapters/script/script-schema.ts';
import { readTextFile } from '../terminal/text-file.ts';

export interface AgentScript {
  /** A plain name: a script lies beside its agent file. */
  readonly fileName: string;
  readonly source: string;
}

/**
 * The script that an agent file names, read and checked; undefined when it names a model, or a script at an absolute
 * path.
 */
export async function scriptBeside(
  agentFile: string,
  { provider, model }: Pick<AgentDefinition, 'provider' | 'model'>,
): Promise<AgentScript | undefined> {
  if (provider !== SCRIPT_RUNTIME_ID) return undefined;
  const path = isAbsolute(model) ? model : join(dirname(agentFile), model);
  const source = await readTextFile({ path, what: 'script', maxBytes: MAX_SCRIPT_CHARACTERS * 4 });
  parseScript(source, path);
  if (isAbsolute(model)) return undefined;
  const fileName = normalize(model);
  if (!fileName.includes(sep)) return { fileName, source };
  throw new RuntimeError(
    'AGENT_INVALID',
    `expected the script of ${agentFile} to lie beside it, received ${JSON.stringify(model)}`,
    {
      category: 'validation',
      hint: 'Move the script into the folder of the agent file, or name it by its absolute path.',
    },
  );
}

/** Puts the script into the agent's own folder. One that is there already is left as it is. */
export async function keepScript(folder: string, { fileName, source }: AgentScript): Promise<void> {
  const path = join(folder, fileName);
  try {
    await writeFile(path, source, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new RuntimeError(
      'STORAGE_FAILED',
      `the agent was created, its script was not: could not write ${path}: ${messageOf(cause)}`,
      {
        category: 'storage',
        hint: `Put the script at ${path} yourself.`,
        cause,
      },
    );
  }
}
