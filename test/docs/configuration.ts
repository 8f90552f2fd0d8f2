/** The reference of all that can be configured as Markdown, written from schemas, option types and their comments. */
import { agentFrontmatter } from '../../src/machines/agent/agent-definition.ts';
import { environmentShape } from '../../src/machines/environment/environment-definition.ts';
import { KNOWN_PROVIDERS, providerTable } from '../../src/machines/run/provider-settings.ts';
import { DEFAULT_RUN_LIMITS } from '../../src/machines/run/run-decision.ts';
import {
  DEFAULT_MAX_AUTONOMOUS_WAKES,
  DEFAULT_MAX_CONTEXT_TOKENS,
  DEFAULT_MAX_IDENTICAL_CALLS,
  DEFAULT_MAX_MODEL_STEPS_PER_WAKE,
  DEFAULT_MAX_STEPS_WITHOUT_PROGRESS,
} from '../../src/machines/session/limits.ts';
import { vaultFile } from '../../src/machines/vault/vault-definition.ts';
import { ENVIRONMENT_VARIABLES } from './environment-variables.ts';
import { defaultsOf, interfaceFields, schemaDocs } from './schema-docs.ts';
import type { InterfaceField } from './schema-docs.ts';
import { schemaFields, unitOf } from './schema-fields.ts';
import type { z } from 'zod';

const HEAD = `# Configuration

Everything that configures a home and a program, written from the schemas and option types that read it. A key that is not known is an error where a file or a call names it, and never ignored. \`a.b\` is the key \`b\` within \`a\`;
\`a[].b\` is \`b\` of each in the list \`a\`; \`a.NAME.b\` is \`b\` of each under a name of your own. What has no default is off, or has no limit, unless it says otherwise. The last column leads to the guide.
The options of commands are in [the command line](command-line.md).
`;

interface Row {
  readonly key: string;
  readonly takes: string;
  readonly fallback: string;
  readonly text: string;
  readonly guide: string;
}

/** A guide by the beginning of a key; \`''\` for all others. */
type Guides = Readonly<Record<string, string>>;

export function configurationPage(): string {
  return [
    HEAD,
    variables(),
    providers(),
    ...FILES.map((file) => fileSection(file)),
    nodeOptions(),
    runtimePorts(),
  ].join('');
}

interface ConfigurationFile {
  readonly title: string;
  readonly intro: string;
  readonly schema: z.ZodType;
  readonly source: readonly [file: string, name: string];
  readonly guides: Guides;
  /** Defaults that hold where the file is used, and not in its schema. */
  readonly fallbacks?: Readonly<Record<string, number>>;
}

const FILES: readonly ConfigurationFile[] = [
  {
    title: 'Agent files',
    intro: 'The frontmatter of `agents/NAME/agent.md` in the home. What stands below it are the instructions.',
    schema: agentFrontmatter,
    source: ['machines/agent/agent-definition.ts', 'agentFrontmatter'],
    fallbacks: {
      'budget.maxModelStepsPerWake': DEFAULT_MAX_MODEL_STEPS_PER_WAKE,
      'budget.maxIdenticalCalls': DEFAULT_MAX_IDENTICAL_CALLS,
      'budget.maxStepsWithoutProgress': DEFAULT_MAX_STEPS_WITHOUT_PROGRESS,
      'budget.maxAutonomousWakes': DEFAULT_MAX_AUTONOMOUS_WAKES,
      'context.maxTokens': DEFAULT_MAX_CONTEXT_TOKENS,
    },
    guides: {
      '': 'agents.md',
      tools: 'agents.md#tools-of-an-agent',
      mcp: 'tools.md',
      permission: 'permissions.md',
      budget: 'agents.md#budgets',
      context: 'agents.md#context',
      profile: 'backends.md#accounts',
      fallbacks: 'backends.md#fallbacks',
      environment: 'environments.md',
      skills: 'skills.md',
    },
  },
  {
    title: 'Environment files',
    intro: '`environments/NAME.yaml` in the home.',
    schema: environmentShape,
    source: ['machines/environment/environment-definition.ts', 'environmentShape'],
    guides: {
      '': 'environments.md',
      sandbox: 'sandbox.md',
      network: 'sandbox.md',
      mounts: 'environments.md#what-is-mounted',
      vaults: 'vaults.md',
      permission: 'permissions.md',
      budget: 'agents.md#budgets',
      hostBound: 'workspace-copies.md',
      quota: 'workspace.md',
      evaluation: 'outcomes.md',
    },
  },
  {
    title: 'Vault files',
    intro:
      '`vaults/NAME.yaml` in the home, readable by you only. A secret has exactly one of `env`, `file`, `command` and `value`.',
    schema: vaultFile,
    source: ['machines/vault/vault-definition.ts', 'vaultFile'],
    guides: { '': 'vaults.md' },
  },
  {
    title: 'providers.yaml',
    intro:
      '`providers.yaml` in the home: each provider under the name by which agents call it. One that has the name of a known provider replaces it whole.',
    schema: providerTable,
    source: ['machines/run/provider-settings.ts', 'providerTable'],
    guides: { '': 'backends.md#any-compatible-address', 'NAME.program': 'backends.md#any-acp-agent' },
  },
];

function fileSection({
  title,
  intro,
  schema,
  source: [file, name],
  guides,
  fallbacks = {},
}: ConfigurationFile): string {
  const docs = schemaDocs(file, name);
  const rows = schemaFields(schema).map((field): Row => {
    const { text, fallback: said } = withoutDefault(docs.get(field.path) ?? '');
    const key = field.path.replace(/^\./, '');
    const known = field.fallback ?? fallbacks[key];
    return {
      key,
      takes: field.takes,
      fallback: NEEDED[`${field.isNeeded}`] ?? (known === undefined ? said : code(String(known))),
      text,
      guide: guideOf(key, guides),
    };
  });
  return section(title, intro, rows);
}

const NEEDED: Readonly<Record<string, string>> = { true: 'needed', in_form: 'needed in this form' };

function variables(): string {
  const rows = ENVIRONMENT_VARIABLES.map(({ name, takes, fallback, text, guide }) => ({
    key: name,
    takes,
    fallback,
    text,
    guide,
  }));
  return section(
    'Environment variables',
    'Of the process that runs the command line or a runtime. Commands of agents get PATH, HOME and the like, and besides them only what is named for them.',
    rows,
  );
}

/** The providers that need no setting up, and the variables that hold their keys. */
function providers(): string {
  const rows = Object.entries(KNOWN_PROVIDERS).map(
    ([name, { backend, api, dialect, keyVariable, baseUrl, program }]) =>
      `| \`${name}\` | ${code(backend)} | ${[api, dialect].flatMap((word) => (word === undefined ? [] : [code(word)])).join(' ')} | ${keyVariable === undefined ? '' : code(keyVariable)} | ${[baseUrl, program?.command].flatMap((word) => (word === undefined ? [] : [code(word)])).join(' ')} |\n`,
  );
  return `\n## Known providers\n\nThey need no setting up besides a key or a program, see [backends](backends.md). The key may also be that of an [account](backends.md#accounts), which names a variable of its own.\n\n| provider | backend | speaks | variable of its key | address or program |\n|---|---|---|---|---|\n${rows.join('')}`;
}

const NODE_GUIDES: Guides = {
  '': 'architecture.md',
  home: 'sessions.md',
  store: 'postgres.md',
  durability: 'performance.md',
  leaseMs: 'workers.md',
  maxConcurrentTasks: 'background-tasks.md',
  reconcileOnStart: 'processes.md',
  backends: 'backends.md#a-backend-of-your-own',
  tools: 'agents-in-code.md#a-tool',
  agents: 'agents-in-code.md',
  environments: 'agents-in-code.md#an-agent',
  config: 'agents-in-code.md#one-module-for-all-processes',
  humans: 'permissions.md',
  prices: 'backends.md#costs',
  commandEnvironment: 'environments.md#commands',
  onToolServerNews: 'tools.md',
  runConfig: 'backends.md#in-a-program-without-sessions',
  runLimits: 'backends.md#what-is-decided-after-a-failure',
  subagents: 'subagents.md',
  environment: 'environments.md#in-a-program',
  telemetry: 'backends.md#traces',
  inspect: 'inspector.md',
  onStoreNews: 'postgres-operations.md',
};

function nodeOptions(): string {
  const rows = interfaceFields('node/runtime-options.ts', 'NodeRuntimeOptions').flatMap((field) => [
    optionRow(field, '', NODE_GUIDES),
    ...belowOption(field.path).flatMap((below) => [
      optionRow(below, `${field.path}.`, NODE_GUIDES),
      ...(below.path === 'limits' ? subagentLimits() : []),
    ]),
  ]);
  return section(
    'createNodeRuntime',
    'Options of `createNodeRuntime(options)` of `wakechart/node`, all of them optional. Their exact types are in [the signatures](api/node.api.md).',
    rows,
  );
}

function belowOption(path: string): InterfaceField[] {
  if (path === 'store') return interfaceFields('node/node-store.ts', 'NodeStoreOptions');
  if (path === 'subagents') return interfaceFields('node/subagents.ts', 'NodeSubagentOptions');
  if (path !== 'runLimits') return [];
  return interfaceFields('machines/run/run-decision.ts', 'RunLimits').map((field) => ({
    ...field,
    isOptional: true,
    text: `${field.text} Default ${String(DEFAULT_RUN_LIMITS[field.path as keyof typeof DEFAULT_RUN_LIMITS])}.`,
  }));
}

function subagentLimits(): Row[] {
  const file = 'machines/subagent/subagent-limits.ts';
  const fallbacks = defaultsOf(file, 'limits');
  return [...schemaDocs(file, 'limits')].map(([path, text]) => ({
    key: `subagents.limits.${path}`,
    takes: 'whole number, or `Infinity`',
    fallback: code(fallbacks.get(path) ?? ''),
    text,
    guide: guideOf('subagents', NODE_GUIDES),
  }));
}

function runtimePorts(): string {
  const rows = interfaceFields('runtime.ts', 'RuntimePorts').map((field) => ({
    ...optionRow(field, '', {
      '': 'architecture.md',
      store: 'own-store.md',
      runtimes: 'backends.md#a-backend-of-your-own',
    }),
    fallback: field.isOptional ? withoutDefault(field.text).fallback : 'needed',
  }));
  return section(
    'createRuntime',
    'Ports of `createRuntime(ports)` of `wakechart/ports`, for programs that bring adapters of their own; `createNodeRuntime` fills them in.',
    rows,
  );
}

function optionRow({ path, type, text: given, isOptional }: InterfaceField, prefix: string, guides: Guides): Row {
  const { text, fallback } = withoutDefault(given);
  return {
    key: `${prefix}${path}`,
    takes: `${code(type)}${type === 'number' ? unitOf(path).replace(' of', ',') : ''}`,
    fallback: isOptional ? fallback : 'needed',
    text,
    guide: guideOf(`${prefix}${path}`, guides),
  };
}

/** A comment says the default last: "Default 4.", "Default: the files of the home." */
function withoutDefault(given: string): { readonly text: string; readonly fallback: string } {
  const found = /\s*\bDefault:? (?<fallback>(?:[^.]|\.(?=\S))+)\.?(?= |$)/.exec(given);
  if (found === null) return { text: given, fallback: '' };
  return {
    text: `${given.slice(0, found.index)}${given.slice(found.index + found[0].length)}`.trim(),
    fallback: found.groups?.['fallback'] ?? '',
  };
}

function guideOf(key: string, guides: Guides): string {
  const fit = Object.keys(guides)
    .filter((beginning) => beginning === '' || key === beginning || new RegExp(`^${beginning}(?:[.[]|s$)`).test(key))
    .toSorted((one, other) => other.length - one.length);
  const guide = guides[fit[0] ?? ''] ?? '';
  return `[${guide.replace(/\.md.*$/, '').replaceAll('-', ' ')}](${guide})`;
}

function section(title: string, intro: string, rows: readonly Row[]): string {
  const lines = rows.map(
    ({ key, takes, fallback, text, guide }) =>
      `| ${[code(key), takes, fallback, text, guide].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`,
  );
  return `\n## ${title}\n\n${intro}\n\n| name | takes | default | what it is | guide |\n|---|---|---|---|---|\n${lines.join('')}`;
}

function code(text: string): string {
  return `\`${text}\``;
}
