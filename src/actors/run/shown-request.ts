/** What a backend asks before it runs a tool, without the secrets in what is shown of it. What is judged stays as it is: it is what would run. */
import type { Redaction } from '../../machines/run/redaction.ts';
import type { RunPermissionRequest } from './agent-runtime.ts';

/** The input is whole, however long it is: nobody is asked to allow what he cannot see. */
export function shownRequest({ callId, name, input, means, signal }: RunPermissionRequest, redaction: Redaction): RunPermissionRequest {
  return {
    callId,
    name: redaction.text(name),
    input: redaction.json(input ?? {}, Infinity),
    ...(means === undefined ? {} : { means }),
    ...(redaction.longest === 0 ? {} : { conceal: (text: string) => redaction.text(text) }),
    ...(signal === undefined ? {} : { signal }),
  };
}
