/** Names that a user writes on a command line, and that cannot be one: seen without checking anywhere. */
import { agentId, environmentId } from '../machines/ids.ts';
import { usageError } from './usage.ts';

/** @throws a usage error */
export function checkedAgentName(name: string): string {
  const parsed = agentId.safeParse(name);
  if (parsed.success) return parsed.data;
  throw usageError(
    `expected the name of an agent, received ${JSON.stringify(name)}`,
    'A name has lower-case letters, digits, "-" and "_", at most 64 of them, such as code-reviewer.',
  );
}

/** @throws a usage error */
export function checkedEnvironmentName(name: string): string {
  const parsed = environmentId.safeParse(name);
  if (parsed.success) return parsed.data;
  throw usageError(
    `expected the name of an environment, received ${JSON.stringify(name)}`,
    'A name has lower-case letters, digits, "-" and "_", at most 64 of them, such as builds.',
  );
}
