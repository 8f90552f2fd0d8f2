/**
 * Calls in which a model has written a secret itself. The log gets them without it, so what would run is not what the
 * log says, nor what a person could be asked about: such a call is refused, in the same record in which it was asked
 * for.
 */
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { ToolCallInput } from '../../machines/turn/tool-call-machine.ts';
import type { SessionSecrets } from '../environment/session-secrets.ts';

/** What the model is told. */
export const SECRET_IN_INPUT =
  'The call was not run: the value of a secret is in it, where "[redacted …]" stands in the log. Name the secret by its reference where the tool takes one, or leave it to the command to read it from its environment; vault_list says how.';

export interface CheckedCalls {
  /** Those that may go on. */
  readonly calls: readonly ToolCallInput[];
  /** How the others have ended. */
  readonly refusals: readonly SessionEventDraft[];
}

export function withoutSecrets(calls: readonly ToolCallInput[], secrets: SessionSecrets | undefined): CheckedCalls {
  if (secrets === undefined) return { calls, refusals: [] };
  const refused = calls.filter((call) => holdsSecret(secrets, call));
  const refusals = refused.map(({ callId, name }): SessionEventDraft => ({
    type: 'agent.tool_result',
    data: { callId, name, outcome: 'failed', output: SECRET_IN_INPUT },
  }));
  return { calls: calls.filter((call) => !refused.includes(call)), refusals };
}

export function holdsSecret(secrets: SessionSecrets, { name, input }: Pick<ToolCallInput, 'name' | 'input'>): boolean {
  return !Object.is(secrets.json(input), input) || secrets.text(name) !== name;
}
