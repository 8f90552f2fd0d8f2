/** Programs of agents that are not there, or in versions that were not tried: whether they work is unknown. */
import { programFile, programVersion } from '../../adapters/system/program-version.ts';
import { realPathOrItself } from '../../adapters/system/real-path.ts';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { modelsOf } from '../../machines/agent/agent-definition.ts';
import { pathOutside } from '../../machines/run/agent-variables.ts';
import { settingsOf } from '../../machines/run/provider-settings.ts';
import type { ProviderTable } from '../../machines/run/provider-settings.ts';
import { aboutVersion, triedProgramOf } from '../../machines/run/tried-programs.ts';
import type { AskedVersion } from '../../machines/run/tried-programs.ts';
import { commandEnvironment } from '../../machines/turn/shell/environment.ts';

export interface UntriedProgram {
  readonly provider: string;
  /** As the settings name it. */
  readonly command: string;
  readonly what: string;
  readonly asked: AskedVersion;
}

/** @param directory the folder of the agent */
export async function untriedPrograms(
  agent: Pick<AgentDefinition, 'provider' | 'model' | 'fallbacks'>,
  own: ProviderTable,
  directory: string,
): Promise<readonly UntriedProgram[]> {
  const providers = [...new Set(modelsOf(agent).map(({ provider }) => provider))];
  const found = await Promise.all(providers.map((provider) => untriedProgram(provider, own, directory)));
  return found.flatMap((each) => each ?? []);
}

async function untriedProgram(
  provider: string,
  own: ProviderTable,
  directory: string,
): Promise<UntriedProgram | undefined> {
  const settings = settingsOf(provider, own);
  if (settings?.program === undefined) return undefined;
  const name = triedProgramOf(settings);
  const { command, pass, set } = settings.program;
  const given = commandEnvironment(process.env, { pass, set });
  // As a wake does it: no program of the workspace is started by its mere name.
  const path = given['PATH'] ?? '';
  const PATH = pathOutside({ path, workspaceDir: process.cwd(), realPathOf: realPathOrItself });
  const place = { command, directory, environment: { ...given, PATH } };
  // One that was not tried is not started to hear its version.
  if (name === undefined && (await programFile(place)) !== undefined) return undefined;
  const asked = name === undefined ? ({ kind: 'missing' } as const) : await programVersion(place);
  const what = aboutVersion({ name, command, provider }, asked);
  return what === undefined ? undefined : { provider, command, what, asked };
}
