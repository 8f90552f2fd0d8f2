/**
 * The agents that `agent create` makes without a file: one that plays a script, so that it works offline and at once,
 * or one with a model.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { closestName } from '../../machines/closest-name.ts';
import { KNOWN_PROVIDERS, settingsOf } from '../../machines/run/provider-settings.ts';
import type { CheckedProviderSettings, ProviderTable } from '../../machines/run/provider-settings.ts';
import { SCRIPT_RUNTIME_ID } from '../../adapters/script/script-agent-runtime.ts';
import { installing } from '../invocation.ts';
import type { AgentScript } from './script.ts';
import { usageError } from '../usage.ts';

const SCRIPT_FILE = 'script.json';

export interface ModelOfAgent {
  readonly provider: string;
  readonly model: string;
}

/** Said, not left to be found out. */
const ENVIRONMENT = `# Where its commands run. host: with all your rights. sandboxed: shut in with their workspace, without network ("wakechart env list" shows all).
environment: host
`;

export function starterAgent(name: string): string {
  return `---
name: ${JSON.stringify(name)}
description: Plays script.json, step by step
provider: script
model: ${SCRIPT_FILE}
tools: [shell_run]
${ENVIRONMENT}---

You are ${name}. Replace these lines with what the agent is to do.
`;
}

/** Values in quotes: a model may be called what YAML takes for something else. */
export function modelAgent(name: string, { provider, model }: ModelOfAgent): string {
  return `---
name: ${JSON.stringify(name)}
description: ${JSON.stringify(`Works with ${provider}/${model}`)}
provider: ${JSON.stringify(provider)}
model: ${JSON.stringify(model)}
${ENVIRONMENT}---

You are ${name}. You help with what lies in the workspace. Replace these lines with what the agent is to do.
`;
}

/** What programs call the model that they are set to. */
const MODEL_OF_PROGRAM = 'default';

/** The model that was asked for. @throws a usage error that says what is missing; RuntimeError PROVIDER_UNKNOWN */
export function chosenModel(
  { provider, model }: { readonly provider: string | undefined; readonly model: string | undefined },
  own: ProviderTable,
): ModelOfAgent | undefined {
  if (provider === undefined) {
    if (model === undefined) return undefined;
    throw usageError(
      `expected --provider with --model ${model}`,
      'Say whose model it is, such as --provider anthropic.',
    );
  }
  if (provider === SCRIPT_RUNTIME_ID)
    throw usageError(
      'expected the provider of a model, received script',
      'An agent that plays a script is made from a file, with --from; without any option one is made that plays a small script.',
    );
  const settings = settingsOf(provider, own);
  if (settings === undefined) throw unknownProvider(provider, [...Object.keys(own), ...Object.keys(KNOWN_PROVIDERS)]);
  if (model !== undefined) return { provider, model };
  if (settings.backend === 'cli-agent') return { provider, model: MODEL_OF_PROGRAM };
  throw usageError(
    `expected --model with --provider ${provider}`,
    'Name a model that your account has; models change too often for one to be chosen for you.',
  );
}

function unknownProvider(provider: string, known: readonly string[]): RuntimeError {
  const meant = closestName(provider, known);
  return new RuntimeError('PROVIDER_UNKNOWN', `there is no provider ${JSON.stringify(provider)}`, {
    category: 'not_found',
    hint: `${meant === undefined ? '' : `Did you mean "${meant}"? `}Known: ${[...new Set(known)].join(', ')}. Others are written into providers.yaml in the home, each under its name with a "backend" (embedded, cli-agent or acp) and its "api" and "baseUrl", or its "program".`,
  });
}

const PACKAGES = {
  anthropic: '@ai-sdk/anthropic',
  openai: '@ai-sdk/openai',
  'openai-chat': '@ai-sdk/openai-compatible',
} as const satisfies Record<NonNullable<CheckedProviderSettings['api']>, string>;

/** What has to be there before the agent can answer, as sentences. */
export function needsOf({ provider }: ModelOfAgent, own: ProviderTable): readonly string[] {
  const { backend, api, keyVariable, needsKey = true, program, baseUrl } = settingsOf(provider, own) ?? {};
  if (backend === 'embedded') {
    const key = keyVariable === undefined ? 'an account' : `the key in ${keyVariable}, or an account`;
    return [
      ...(api === undefined ? [] : [`the package: ${installing()} ${PACKAGES[api]}`]),
      ...(needsKey ? [`${key}: wakechart auth add NAME --provider ${provider} --env VARIABLE`] : []),
      ...(needsKey || baseUrl === undefined ? [] : [`a server at ${baseUrl}`]),
    ];
  }
  return program === undefined ? [] : [`the program ${program.command} in PATH, logged in, or an account for it`];
}

const SCRIPT = {
  format: 'wakechart-script/1',
  description: 'Each step is what a model would say. See docs/sessions.md.',
  steps: [
    { text: 'I look around first.', toolCalls: [{ name: 'shell_run', input: { command: 'pwd && ls -A' } }] },
    {
      expect: { lastToolResultOutcome: 'completed' },
      text: 'This is my workspace.',
      directive: { outcome: 'sleep', summary: 'Checked the workspace.' },
    },
  ],
  onEnd: 'sleep',
};

export function starterScript(): AgentScript {
  return { fileName: SCRIPT_FILE, source: `${JSON.stringify(SCRIPT, undefined, 2)}\n` };
}
