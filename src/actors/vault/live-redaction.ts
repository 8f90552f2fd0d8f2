/**
 * What a run streams, without secrets: for its viewers. What the model says may hold one in any number of pieces.
 */
import type { AgentRunEvent, AgentRunEventBody } from '../../machines/run/run-output.ts';
import { TextPieces } from '../../machines/vault/secret-redaction.ts';
import type { SessionSecrets } from '../environment/session-secrets.ts';

type Listener = (event: AgentRunEvent) => void;

interface OpenText {
  readonly kind: 'text' | 'reasoning';
  readonly pieces: TextPieces;
}

/** The same listener where there are no secrets. */
export function redactedListener(
  secrets: SessionSecrets | undefined,
  listener: Listener | undefined,
): Listener | undefined {
  if (listener === undefined || secrets?.bytes() === undefined) return listener;
  const live = new LiveRedaction(secrets, listener);
  return (event) => live.hear(event);
}

class LiveRedaction {
  readonly #secrets: SessionSecrets;
  readonly #listener: Listener;
  #open: OpenText | undefined;
  #runId: string | undefined;
  /** Numbers stay dense: what was kept back is an event of its own. */
  #seq = 0;

  constructor(secrets: SessionSecrets, listener: Listener) {
    this.#secrets = secrets;
    this.#listener = listener;
  }

  hear(event: AgentRunEvent): void {
    if (event.runId !== this.#runId) {
      this.#runId = event.runId;
      this.#seq = 0;
    }
    if (event.stream === 'assistant') return this.#say(event, event.data);
    this.#endText(event);
    this.#tell(event, this.#redacted(event));
  }

  #say(event: AgentRunEvent, { kind, text }: { readonly kind: OpenText['kind']; readonly text: string }): void {
    if (this.#open?.kind !== kind) this.#endText(event);
    const redaction = this.#secrets.bytes();
    if (redaction === undefined) return this.#tell(event, event);
    this.#open ??= { kind, pieces: new TextPieces(redaction) };
    const told = this.#open.pieces.add(text);
    if (told !== '') this.#tell(event, { stream: 'assistant', data: { kind, text: told } });
  }

  #endText(event: AgentRunEvent): void {
    if (this.#open === undefined) return;
    const { kind, pieces } = this.#open;
    this.#open = undefined;
    const text = pieces.end();
    if (text !== '') this.#tell(event, { stream: 'assistant', data: { kind, text } });
  }

  #redacted(event: AgentRunEvent): AgentRunEventBody {
    if (event.stream === 'tool' && event.data.phase !== 'started') {
      // The id is looked up by others.
      const { callId, ...data } = event.data;
      return { stream: 'tool', data: { ...this.#secrets.json(data), callId } } as AgentRunEventBody;
    }
    return { stream: event.stream, data: this.#secrets.json(event.data) } as AgentRunEventBody;
  }

  #tell({ runId, ts }: AgentRunEvent, { stream, data }: AgentRunEventBody): void {
    this.#seq += 1;
    this.#listener({ stream, data, runId, ts, seq: this.#seq } as AgentRunEvent);
  }
}
