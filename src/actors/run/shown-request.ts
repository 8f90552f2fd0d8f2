/**
 * What a backend asks before it runs a tool, without the secrets in what is shown of it. What is judged stays as it is:
 * it is what would run.
 */
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { RunPermissionRequest } from './agent-runtime.ts';

/** The input is whole, however long it is: no person is asked to allow what cannot be seen. */
export function shownRequest(
  { callId, name, input, means, signal }: RunPermissionRequest,
  redaction: SecretRedaction,
): RunPermissionRequest {
  return {
    callId,
    name: redaction.text(name),
    input: redaction.json(input ?? {}),
    ...(means === undefined ? {} : { means }),
    ...(redaction.longest === 0 ? {} : { conceal: (text: string) => redaction.text(text) }),
    ...(signal === undefined ? {} : { signal }),
  };
}
