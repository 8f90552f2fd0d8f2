/** The stage with Codex on it, and calls as only its models make them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProviderSettings } from '../../src/machines/run/provider-settings.ts';
import type { Behavior } from '../support/http-models/model-server.ts';
import { sse } from '../support/http-models/protocol.ts';
import { Stage } from './stage.ts';
import type { StageOptions } from './stage.ts';

/** A model that it knows the tools of. */
const KNOWN_MODEL = 'gpt-5.5';

export interface CodexStageOptions extends Partial<StageOptions> {
  readonly idleTimeoutMs?: number;
  readonly options?: ProviderSettings['options'];
  /** What its own settings say besides. */
  readonly config?: string;
}

export function openCodex({ options, idleTimeoutMs, config = '', ...rest }: CodexStageOptions = {}): Promise<Stage> {
  return Stage.open({
    program: 'codex',
    provider: async ({ server, userHome, program }) => {
      const home = join(userHome, '.codex');
      await mkdir(home);
      await writeFile(join(home, 'config.toml'), settingsOf(server.baseUrl('openai')) + config);
      return {
        backend: 'cli-agent',
        dialect: 'codex',
        program: program({ CODEX_HOME: home, CODEX_API_KEY: 'sk-fixture' }),
        ...(options === undefined ? {} : { options }),
        ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
      };
    },
    ...rest,
    agent: { model: KNOWN_MODEL, ...rest.agent },
  });
}

/** Its retries have waits of their own: none, so that a failure is told at once. */
const settingsOf = (baseUrl: string): string => `model_provider = "fixture"
[model_providers.fixture]
name = "fixture"
base_url = "${baseUrl}"
wire_api = "responses"
requires_openai_auth = true
request_max_retries = 0
stream_max_retries = 0
`;

/** A server of tools of its own: `list` says what is in a folder. */
export function mcpSettings(): string {
  const server = fileURLToPath(new URL('../fixtures/mcp/prying-server.mjs', import.meta.url));
  return `[mcp_servers.fixture]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(server)}]
`;
}

let calls = 0;

interface Item {
  readonly [field: string]: unknown;
  readonly type: string;
}

/** Items of an answer that are more than a text or a call of a function. */
export function answersItems(...items: readonly Item[]): Behavior {
  return ({ protocol, request, response }) => {
    const events = items.flatMap((item, index) => {
      calls += 1;
      const whole = { id: `item_${calls}`, call_id: `call_of_codex_${calls}`, status: 'completed', ...item };
      return ['added', 'done'].map((phase) => {
        const type = `response.output_item.${phase}`;
        return sse({ type, output_index: index, item: whole }, type);
      });
    });
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end([...protocol.opening(request.model), ...events, ...protocol.closing({}, [])].join(''));
  };
}

export const patches = (patch: string): Behavior =>
  answersItems({
    type: 'custom_tool_call',
    name: 'apply_patch',
    input: `*** Begin Patch\n${patch}\n*** End Patch\n`,
  });

export const usesIn = (namespace: string, name: string, input: unknown): Behavior =>
  answersItems({ type: 'function_call', namespace, name, arguments: JSON.stringify(input) });
