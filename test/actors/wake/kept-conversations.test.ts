import { describe, expect, it } from 'vitest';
import { KeptConversations } from '../../../src/actors/wake/kept-conversations.ts';
import type { EventStore } from '../../../src/actors/session/event-store.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { TranscriptBuilder } from '../../../src/machines/turn/transcript.ts';
import { foldAll, logOf, message } from '../../support/session-events.ts';

const MAX_TOKENS = 1_000;

/** A store with one log, which counts what is read of it. */
class Log {
  read = 0;
  events: readonly SessionEvent[];

  constructor(messages: number, text = 'm') {
    this.events = logOf(...Array.from({ length: messages }, (_, index) => message(`${text} ${index + 1}`)));
  }

  get store(): EventStore {
    const read: EventStore['read'] = async (_sessionId, { from = 1, limit = 1_000 } = {}) => {
      const found = this.events.slice(from - 1, from - 1 + limit);
      this.read += found.length;
      return found;
    };
    return { read } as Pick<EventStore, 'read'> as EventStore;
  }

  builder(): TranscriptBuilder {
    const builder = new TranscriptBuilder();
    for (const event of this.events) builder.ingest(event);
    return builder;
  }
}

function keep(kept: KeptConversations, log: Log, tokens: number, sessionId = foldAll(log.events).sessionId): void {
  kept.keep(sessionId, { builder: log.builder(), lastId: log.events.at(-1)?.id ?? '', maxTokens: MAX_TOKENS }, tokens);
}

describe('the conversation of a session that was awake here', () => {
  it('goes on with what is new, and says what one that is read anew says', async () => {
    const kept = new KeptConversations();
    keep(kept, new Log(3), 10);
    const longer = new Log(5);
    const builder = await kept.take(longer.store, foldAll(longer.events), MAX_TOKENS);
    expect(builder?.messages()).toEqual(longer.builder().messages());
    expect(longer.read).toBe(3);
  });

  it('is taken once: two wakes never share one', async () => {
    const kept = new KeptConversations();
    const log = new Log(3);
    keep(kept, log, 10);
    expect(await kept.take(log.store, foldAll(log.events), MAX_TOKENS)).toBeDefined();
    expect(await kept.take(log.store, foldAll(log.events), MAX_TOKENS)).toBeUndefined();
  });

  it('is not believed when the log is another one, or shorter', async () => {
    const kept = new KeptConversations();
    const log = new Log(4);
    const other = { ...foldAll(log.events) };
    keep(kept, log, 10);
    const replaced = new Log(4);
    replaced.events = replaced.events.map((event) => ({ ...event, id: `x${event.id.slice(1)}` }));
    expect(await kept.take(replaced.store, other, MAX_TOKENS)).toBeUndefined();
    keep(kept, log, 10);
    const shorter = new Log(2);
    expect(await kept.take(shorter.store, foldAll(shorter.events), MAX_TOKENS)).toBeUndefined();
  });

  it('is read anew for a model that can be told more of it', async () => {
    const kept = new KeptConversations();
    const log = new Log(3);
    keep(kept, log, 10);
    expect(await kept.take(log.store, foldAll(log.events), MAX_TOKENS + 1)).toBeUndefined();
  });

  it('gives way when four million tokens of others have been kept since', async () => {
    const kept = new KeptConversations();
    const log = new Log(3);
    keep(kept, log, 10);
    for (const name of ['one', 'two']) keep(kept, log, 1_950_000, name);
    expect(await kept.take(log.store, foldAll(log.events), MAX_TOKENS)).toBeDefined();
    keep(kept, log, 10);
    for (const name of ['one', 'two', 'three']) keep(kept, log, 1_950_000, name);
    expect(await kept.take(log.store, foldAll(log.events), MAX_TOKENS)).toBeUndefined();
  });
});
