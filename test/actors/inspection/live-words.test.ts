/** What a model says while it says it, as an inspector of the same process hears it. */
import { describe, expect, it } from 'vitest';
import { createRuntimeSource } from '../../../src/actors/inspection/runtime-source.ts';
import type { RuntimeSourceOptions, ClosableSource } from '../../../src/actors/inspection/runtime-source.ts';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';
import { allRecords } from '../../support/inspection-source-contract.ts';
import { SPEAKER, speakingBackend } from '../../support/speaking-backend.ts';
import type { SpeakingBackend } from '../../support/speaking-backend.ts';
import { openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

interface Heard extends AsyncDisposable {
  readonly setup: SessionSetup;
  readonly backend: SpeakingBackend;
  readonly source: ClosableSource;
  readonly session: string;
  /** Of what is said now. */
  parts(): readonly unknown[] | undefined;
}

async function open(options: Partial<RuntimeSourceOptions> = {}): Promise<Heard> {
  const backend = speakingBackend();
  const setup = await openSetup({ runtimes: [backend.runtime] });
  const { runtime, clock } = setup;
  const { live, owner } = runtime.inspection;
  const session = await setup.session([], { message: 'Tell me.', agent: SPEAKER });
  const source = createRuntimeSource({
    title: 'a setup',
    sessions: runtime.sessions,
    clock,
    live,
    owner,
    onProblem: () => undefined,
    ...options,
  });
  return {
    setup,
    backend,
    source,
    session,
    parts: () => source.speech?.(session).now()?.parts,
    [Symbol.asyncDispose]: async () => {
      source.close();
      await setup.close();
    },
  };
}

const redactor = (secret: string): RuntimeSourceOptions['redact'] =>
  Object.assign((text: string) => text.replaceAll(secret, '[secret]'), { longest: () => secret.length });

describe('what a model says', () => {
  it('is heard piece by piece, thoughts apart, and told by the log alone when the step has ended', async () => {
    await using heard = await open();
    const { setup, backend, source, session, parts } = heard;
    let rings = 0;
    const leave = source.speech?.(session).follow(() => (rings += 1));
    const waking = setup.runtime.wake(session);
    const voice = await backend.voice();
    expect(parts()).toBeUndefined();
    voice.think('Hm. ');
    voice.say('Once ');
    voice.say('upon');
    expect(parts()).toEqual([
      { kind: 'reasoning', text: 'Hm. ' },
      { kind: 'text', text: 'Once upon' },
    ]);
    expect(rings).toBe(3);
    expect(source.speech?.(session).now()?.loggedAfter).toBeUndefined();
    const before = (await setup.runtime.sessions.status(session)).head;
    backend.end();
    await waking;
    const { loggedAfter = 0 } = source.speech?.(session).now() ?? {};
    expect(loggedAfter).toBe(before);
    expect((await setup.log(session)).find(({ type }) => type === 'agent.message')?.seq).toBeGreaterThan(loggedAfter);
    leave?.();
    expect(JSON.stringify(await allRecords(source))).not.toContain('Once');
  });

  it('holds no secret, whole or in pieces, at its end or where it was cut', async () => {
    await using heard = await open({ redact: redactor('s3cr3t-w0rd') });
    const { setup, backend, parts, session } = heard;
    const waking = setup.runtime.wake(session);
    const voice = await backend.voice();
    voice.say('It is s3cr3t');
    expect(parts()).toEqual([{ kind: 'text', text: 'It is ' }]);
    voice.say('-w0rd, and ');
    expect(parts()).toEqual([{ kind: 'text', text: 'It is [secret], and ' }]);
    for (let count = 0; count < 4_000; count += 1) voice.say(`${count} s3cr3t-w0rd `);
    expect(JSON.stringify(parts())).not.toContain('s3cr');
    expect(JSON.stringify(parts())).not.toContain('0rd');
    backend.end();
    await waking;
  });

  it('holds no part of a secret of several words or lines, while it is said', async () => {
    const phrase = 'correct horse battery staple tango whiskey';
    const pem = ['-----BEGIN KEY-----', 'aGVsbG8gd29ybGQgYWdhaW4', 'c2VjcmV0IGxpbmUgdHdv', '-----END KEY-----'].join(
      '\n',
    );
    for (const secret of [phrase, pem]) {
      const redaction = new SecretRedaction(new Map([['vault/words', secret]]));
      let redacted = 0;
      const redact = Object.assign((text: string) => redaction.text(text), {
        longest: () => redaction.longest,
        pieces: () => {
          redacted += 1;
          return redaction.pieces();
        },
      });
      await using heard = await open({ redact });
      const { setup, backend, source, parts, session } = heard;
      const waking = setup.runtime.wake(session);
      const voice = await backend.voice();
      voice.say('It is: ');
      for (const character of secret.slice(0, -1)) {
        voice.say(character);
        expect(parts()).toEqual([{ kind: 'text', text: 'It is: ' }]);
      }
      voice.say(`${secret.slice(-1)} and more of it`);
      expect(parts()).toEqual([{ kind: 'text', text: 'It is: [redacted vault/words] and more of it' }]);
      // Another viewer of the same session.
      const before = redacted;
      expect(source.speech?.(session).now()?.parts).toEqual(parts());
      expect(redacted).toBe(before);
      backend.end();
      await waking;
    }
  });

  it('is bounded, and says that there was more', async () => {
    await using heard = await open();
    const { setup, backend, source, session } = heard;
    const waking = setup.runtime.wake(session);
    const voice = await backend.voice();
    for (let count = 0; count < 500; count += 1) voice.say(`${'x'.repeat(1_000)} ${count}\n`);
    const said = source.speech?.(session).now();
    expect(said).toMatchObject({ isCut: true, parts: [{ kind: 'text', text: expect.stringMatching(/499\n$/) }] });
    expect(said?.parts[0]?.text.length).toBeLessThanOrEqual(6_000);
    backend.end();
    await waking;
  });
});

describe('who wakes a session', () => {
  it('is told while it does: this process, another of this machine, or one elsewhere', async () => {
    for (const [owner, place] of [
      ['setup', 'this'],
      ['other', 'elsewhere'],
    ]) {
      await using heard = await open({ owner });
      const { setup, backend, source, session } = heard;
      expect((await source.session(session))?.worker).toBeUndefined();
      const waking = setup.runtime.wake(session);
      await backend.voice();
      expect((await source.session(session))?.worker).toMatchObject({
        owner: 'setup',
        place,
        since: expect.stringMatching(/^\d{4}-/),
        heardAt: expect.stringMatching(/^\d{4}-/),
      });
      backend.end();
      await waking;
      expect((await source.session(session))?.worker).toBeUndefined();
    }
  });
});
