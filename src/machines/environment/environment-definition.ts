/**
 * What an environment is: how commands are shut in, what is mounted, which secrets may be used, what needs consent,
 * what may be used up. Written as YAML.
 */
import * as z from 'zod';
import { agentBudget, permissionMode, ruleTexts } from '../agent/agent-definition.ts';
import { canonicalJson } from '../canonical-json.ts';
import { environmentId } from '../ids.ts';
import { hostPath, textWithoutNul } from '../text-schemas.ts';

/** Characters of an environment file. */
export const MAX_ENVIRONMENT_FILE_CHARACTERS = 64_000;

/** Absolute, as the agent sees it: names that cannot climb. The runtime's own mounts come with every environment. */
const mountPath = z
  .string()
  .regex(/^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)+$/, 'expected an absolute path of plain names, such as /data')
  .max(200);

const declaredMount = z.strictObject({
  /** Where commands and file tools see it: absolute. */
  path: mountPath,
  /** On the host: absolute, or from the home of Wakechart. It must be there when a wake begins. */
  source: hostPath,
  /** Whether it may be read only, or written too. */
  access: z.enum(['ro', 'rw']).default('ro'),
});

export const vaultName = environmentId;

/** Whose paths declared mounts may not take or hide. */
const RESERVED = [
  '/workspace',
  '/runtime',
  '/memory',
  '/vaults',
  '/skills',
  '/agent',
  '/agent-skills',
  '/home',
  '/root',
  '/var',
  '/sys',
  '/run',
  '/boot',
  '/proc',
  '/dev',
  '/tmp',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/etc',
  '/opt',
];

const variableName = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]{0,199}$/,
    'expected the name of one variable: letters, digits and "_", not beginning with a digit',
  );
const variableValue = textWithoutNul.max(4_096);

/** Longer commands come of several that all have to hold: see `strictestEnvironment`. */
const MAX_CHECK_CHARACTERS = 2_000;
const MAX_CHECK_SECONDS = 3_600;

const checkCommand = textWithoutNul.min(1).max(MAX_CHECK_CHARACTERS);
const checkSeconds = z.number().int().min(1);

const judge = z.strictObject({
  /** Who serves the model, as agent files name it. */
  provider: z.string().min(1).max(200),
  /** As the provider calls it. */
  model: z.string().min(1).max(200),
  /** The account that pays. Default: those of the provider, in turn. */
  profile: z.string().min(1).max(64).optional(),
});

const shape = {
  /** For people. */
  description: z.string().trim().max(1_000).default(''),
  /**
   * `required`: commands run in a sandbox, or not at all. `off`: on the host, with the rights of the user who runs
   * Wakechart.
   */
  sandbox: z.enum(['required', 'off']),
  /** Of commands. `disabled` needs a sandbox. Default: `disabled` in a sandbox, else `open`. */
  network: z.enum(['open', 'disabled']).optional(),
  /** Folders of the host that are seen beside the workspace. */
  mounts: z.array(declaredMount).max(50).default([]),
  /** The vaults whose secrets may be used. */
  vaults: z.array(vaultName).max(50).default([]),
  /** Besides what the agent's own file says: the stricter mode holds, and every rule that asks or denies. */
  permission: z
    .strictObject({
      /** The mode that holds at least. */
      mode: permissionMode.default('preapproved'),
      /** Rules for calls that a person is asked about. */
      ask: ruleTexts('ask'),
      /** Rules for calls that never run. */
      deny: ruleTexts('deny'),
    })
    .default({ mode: 'preapproved', ask: [], deny: [] }),
  /** Besides that of the agent: the lower bound holds. */
  budget: agentBudget.default({}),
  /** What commands get of the environment variables of the host, by name, and what is set besides. */
  variables: z
    .strictObject({
      /** Names of variables that are passed on. */
      pass: z.array(variableName).max(200).default([]),
      /** Variables with their values. No secrets: those belong into a vault. */
      set: z
        .record(variableName, variableValue)
        .refine((set) => Object.keys(set).length <= 200, 'expected at most 200 variables')
        .default({}),
    })
    .default({ pass: [], set: {} }),
  /**
   * `true`: a session stays on the machine where its first wake ran. `false`: it goes to any, and folders that it was
   * given and mounts that it may write are the same on all of them. Default: it stays where it has such folders.
   */
  hostBound: z.boolean().optional(),
  /** What the workspace of a session may hold. */
  quota: z
    .strictObject({
      /** All files together. */
      maxBytes: z.number().int().min(1).optional(),
      /** Files and folders. */
      maxFiles: z.number().int().min(1).optional(),
    })
    .default({}),
  /** What has to speak for an outcome besides the log before anything is promoted. */
  evaluation: z
    .strictObject({
      /** Run in the workspace; exit code 0 speaks for the outcome. */
      check: z
        .strictObject({
          /** For a shell. */
          command: checkCommand,
          /** What takes longer counts as failed. */
          timeoutSeconds: checkSeconds.max(MAX_CHECK_SECONDS).default(600),
        })
        .optional(),
      /** A model that judges by what the log shows. */
      judge: judge.optional(),
    })
    .default({}),
};

/** The keys of an environment file, without what they have to do with each other. */
export const environmentShape = z.strictObject(shape);

export const environmentFile = environmentShape
  .superRefine(({ sandbox, network, mounts }, context) => {
    if (sandbox === 'off' && network === 'disabled')
      context.addIssue({
        code: 'custom',
        path: ['network'],
        message: 'expected "open": without a sandbox nothing keeps commands from the network',
      });
    const taken = new Set<string>();
    for (const [index, { path }] of mounts.entries()) {
      const problem = mountProblem(path, taken);
      if (problem !== undefined)
        context.addIssue({ code: 'custom', path: ['mounts', index, 'path'], message: problem });
      taken.add(path);
    }
  })
  .transform(({ network, ...rest }) => ({
    ...rest,
    network: network ?? (rest.sandbox === 'required' ? ('disabled' as const) : ('open' as const)),
  }));

/**
 * A definition as a record keeps it: also one that several were merged into, and one of a version that asked for less.
 */
export const rememberedEnvironment = z.object({
  ...shape,
  environmentId,
  network: z.enum(['open', 'disabled']),
  evaluation: z.object({
    check: z.object({ command: z.string().min(1), timeoutSeconds: checkSeconds }).optional(),
    judge: judge.optional(),
  }),
});

function mountProblem(path: string, taken: ReadonlySet<string>): string | undefined {
  const reserved = RESERVED.find((each) => path === each || path.startsWith(`${each}/`));
  if (reserved !== undefined) return `expected a path of its own: ${reserved} is the runtime's or the system's`;
  const other = [...taken].find((each) => each === path || each.startsWith(`${path}/`) || path.startsWith(`${each}/`));
  return other === undefined ? undefined : `expected paths apart from each other: ${other} is mounted too`;
}

export type EnvironmentFile = z.input<typeof environmentFile>;

/** Mount sources are absolute. */
export interface EnvironmentDefinition extends Readonly<z.output<typeof environmentFile>> {
  readonly environmentId: string;
}

export type DeclaredMount = EnvironmentDefinition['mounts'][number];

/** The environment of agents that name none: nothing is shut in, and every status says so. */
export const HOST_ENVIRONMENT: EnvironmentDefinition = {
  ...environmentFile.parse({
    description: 'Commands run on the host, with all rights of the user who runs Wakechart.',
    sandbox: 'off',
  }),
  environmentId: 'host',
};

/** Commands see the workspace and the programs of the system, and no network. */
export const SANDBOXED_ENVIRONMENT: EnvironmentDefinition = {
  ...environmentFile.parse({
    description: 'Commands see their workspace and the programs of the system, and no network.',
    sandbox: 'required',
  }),
  environmentId: 'sandboxed',
};

/** Those that are there without a file. A file of the same name goes before. */
export const BUILT_IN_ENVIRONMENTS: readonly EnvironmentDefinition[] = [HOST_ENVIRONMENT, SANDBOXED_ENVIRONMENT];

/**
 * What a fingerprint is made of: the same text for environments that say the same, and for no others. Permissions are
 * bound to it: where a version makes another text of what has not changed, what people have allowed is asked again.
 */
export function fingerprintText({ environmentId: id, ...definition }: EnvironmentDefinition): string {
  return canonicalJson({ environmentId: id, ...definition });
}
