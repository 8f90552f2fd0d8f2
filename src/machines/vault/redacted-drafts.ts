/**
 * Events on their way into a log, without secrets: what people, models and tools have said is redacted; what the log is
 * held together by stays as it is.
 */
import { sessionEventDefinitions } from '../session/event-schemas.ts';
import type { SessionEventDraft } from '../session/session-event.ts';
import { shortMark } from './secret-redaction.ts';
import type { JsonRedactionOptions, SecretRedaction } from './secret-redaction.ts';

/** Made by us, and looked up by others: an id is never what a person said. */
const HELD_TOGETHER_BY = /(?:^id|Id|^ids|Ids|^type|^hash|^sha256|^fingerprint|^opaque)$/;

/** Any JSON that models and tools have made: in it nothing is ours, not even its keys. */
const ANYBODYS: ReadonlySet<string> = new Set(['input', 'output', 'data']);

/** Those in which there is no secret stay the same. */
export function redactedDrafts(
  redaction: SecretRedaction,
  drafts: readonly SessionEventDraft[],
): readonly SessionEventDraft[] {
  const redacted = drafts.map((draft) => redactedDraft(redaction, draft));
  return redacted.some((draft, index) => draft !== drafts[index]) ? redacted : drafts;
}

function redactedDraft(redaction: SecretRedaction, draft: SessionEventDraft): SessionEventDraft {
  const changed = withData(draft, redaction, {});
  if (changed === draft || fits(changed)) return changed;
  // What stands in place of a secret may be longer than it, and the event have no room for that.
  return withData(draft, redaction, { mark: shortMark });
}

function withData(
  draft: SessionEventDraft,
  redaction: SecretRedaction,
  { mark }: Pick<JsonRedactionOptions, 'mark'>,
): SessionEventDraft {
  const keeps = (key: string): boolean => HELD_TOGETHER_BY.test(key);
  const entries = Object.entries(draft.data);
  const redacted = entries.map(([key, value]: [string, unknown]) => {
    if (keeps(key)) return [key, value] as const;
    return [key, redaction.json(value, ANYBODYS.has(key) ? { mark } : { mark, keeps })] as const;
  });
  if (redacted.every(([, value], index) => Object.is(value, entries[index]?.[1]))) return draft;
  const { opaque: _, ...data } = Object.fromEntries(redacted);
  // What only a model can read belongs to the text that it said, and is refused by it with any other.
  return { ...draft, data: draft.type === 'agent.thinking' ? data : Object.fromEntries(redacted) } as SessionEventDraft;
}

function fits({ type, data }: SessionEventDraft): boolean {
  return sessionEventDefinitions[type].data.safeParse(data).success;
}
