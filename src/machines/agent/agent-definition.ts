/** What an agent is: who it is, which model speaks for it, what it may use. Written as Markdown with YAML frontmatter. */
import { z } from 'zod';
import { MAX_MODEL_STEPS_PER_WAKE } from '../session/limits.ts';

/** Characters of an agent file. */
export const MAX_AGENT_FILE_CHARACTERS = 256_000;

const text = z.string().trim().min(1);

/** Fails closed: a key that promises something this version does not do is refused, never ignored. */
const unsupported = (what: string): z.ZodType<undefined> =>
  z.undefined({ error: `${what} is not supported by this version; remove the key` });

/** The frontmatter. Keys that nobody knows are errors: a misspelled limit must not be no limit. */
export const agentFrontmatter = z.strictObject({
  name: text.max(100),
  description: z.string().trim().max(1_000).default(''),
  /** For the script backend: the path of the script, from the folder of the agent file. */
  model: text,
  /** Which backend speaks: the provider's name. */
  provider: text,
  /** Names of the tools it may use; all managed tools when absent. */
  tools: z.array(text).max(200).optional(),
  /** `preapproved`: only tools that always ask do ask. `ask`: every tool that changes something asks. `deny`: none runs. */
  permission: z.enum(['preapproved', 'ask', 'deny']).default('preapproved'),
  budget: z
    .strictObject({
      maxModelStepsPerWake: z.number().int().min(1).max(MAX_MODEL_STEPS_PER_WAKE).optional(),
      /** Input and output together, as far as the provider tells. */
      maxTokensPerWake: z.number().int().min(1).optional(),
      maxSecondsPerWake: z.number().int().min(1).optional(),
      /** Wakes in a row that nobody outside asked for; then the session is parked. */
      maxAutonomousWakes: z.number().int().min(0).optional(),
    })
    .default({}),
  fallbacks: unsupported('a list of fallbacks').optional(),
  environment: unsupported('an environment').optional(),
});

export type AgentFrontmatter = z.input<typeof agentFrontmatter>;

export interface AgentDefinition {
  /** The name of its folder. */
  readonly agentId: string;
  readonly name: string;
  readonly description: string;
  readonly model: string;
  readonly provider: string;
  readonly tools?: readonly string[] | undefined;
  readonly permission: 'preapproved' | 'ask' | 'deny';
  readonly budget: Readonly<z.output<typeof agentFrontmatter>['budget']>;
  /** The body of the file: what the model is told. */
  readonly instructions: string;
}
