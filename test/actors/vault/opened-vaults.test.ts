/**
 * Vaults opened for sessions: who gets which secret, what is said of those that cannot be had, and how long values are
 * good.
 */
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { PRINTED_KEPT_MS } from '../../../src/actors/vault/secret-values.ts';
import { createVaultListTool } from '../../../src/actors/vault/vault-list-tool.ts';
import { environmentWith, secretsWith, vaultsWith } from '../../support/vault-setup.ts';

const session = { sessionId: 's', agentId: 'a' };

describe('a secret', () => {
  it('is given to commands and to hosts only where its vault says so', async () => {
    const secrets = await secretsWith({
      v: {
        open: { value: 'value-number-1', commands: true, hosts: ['API.github.com', '*.example.com', 'localhost:8080'] },
        shut: { value: 'value-number-2' },
      },
    });
    expect(secrets.forCommand('v/open')).toBe('value-number-1');
    for (const host of ['api.github.com', 'a.example.com', 'a.b.example.com', 'localhost:8080'])
      expect(secrets.forHost('v/open', host)).toBe('value-number-1');
    for (const host of [
      'github.com',
      'api.github.com.evil.org',
      'api.github.com:8443',
      'example.com',
      'notexample.com',
      'localhost',
      'evil.org',
    ]) {
      expect(() => secrets.forHost('v/open', host)).toThrow(
        expect.objectContaining({ code: 'SECRET_NOT_FOR_HOST' }) as Error,
      );
    }
    expect(() => secrets.forCommand('v/shut')).toThrow(
      expect.objectContaining({ code: 'SECRET_NOT_FOR_COMMANDS' }) as Error,
    );
    expect(() => secrets.forHost('v/shut', 'api.github.com')).toThrow(
      expect.objectContaining({ code: 'SECRET_NOT_FOR_HOST' }) as Error,
    );
    expect(() => secrets.forCommand('v/else')).toThrow(expect.objectContaining({ code: 'SECRET_UNKNOWN' }) as Error);
  });

  it.each([
    ['a variable that is not set', { env: 'NOT_SET' }],
    ['a file that is not there', { file: '/nowhere/at/all' }],
    ['a command that fails', { command: ['pass', 'show'] }],
    ['too few characters', { value: 'short1' }],
    ['nothing but white space', { value: '            ' }],
    ['an ordinary word', { value: 'production' }],
    ['two ordinary words', { value: 'budget reached' }],
    ['a NUL character', { value: 'abcdefgh\0ijkl' }],
  ])('that is %s is known by name, and refused when it is used', async (_what, definition) => {
    const secrets = await secretsWith({
      v: { broken: { ...definition, commands: true }, fine: { value: 'fine-value-1', commands: true } },
    });
    expect(secrets.names.map(({ reference }) => reference)).toEqual(['v/broken', 'v/fine']);
    expect(secrets.names[0]?.problem).toMatch(/./);
    expect(() => secrets.forCommand('v/broken')).toThrow(
      expect.objectContaining({ code: 'SECRET_UNAVAILABLE' }) as Error,
    );
    expect(secrets.forCommand('v/fine')).toBe('fine-value-1');
    if ('value' in definition) expect(JSON.stringify(secrets.names)).not.toContain(definition.value.trim() || 'x');
  });

  it('that a command prints is asked for once by all, and again after five minutes', async () => {
    const clock = createSimulatedClock();
    let runs = 0;
    const vaults = vaultsWith(
      { v: { printed: { command: ['print'], commands: true } } },
      { clock, runCommand: async () => ({ kind: 'printed', text: `printed-value-${(runs += 1)}\n` }) },
    );
    const [first, second] = await Promise.all([
      vaults.open(session, ['v']),
      vaults.open({ ...session, sessionId: 't' }, ['v']),
    ]);
    expect([first.forCommand('v/printed'), second.forCommand('v/printed'), runs]).toEqual([
      'printed-value-1',
      'printed-value-1',
      1,
    ]);
    await clock.advance(PRINTED_KEPT_MS);
    const third = await vaults.open(session, ['v']);
    expect(third.forCommand('v/printed')).toBe('printed-value-2');
    // The old one may lie anywhere by now.
    expect(third.text('printed-value-1 printed-value-2')).toBe('[redacted v/printed] [redacted v/printed]');
  });

  it('that a command could not print is asked for again by the next one', async () => {
    let runs = 0;
    const vaults = vaultsWith(
      { v: { printed: { command: ['print'], commands: true } } },
      {
        runCommand: async () =>
          (runs += 1) === 1
            ? { kind: 'failed', because: 'ended with exit code 1' }
            : { kind: 'printed', text: 'printed-value-9' },
      },
    );
    expect((await vaults.open(session, ['v'])).names[0]?.problem).toBe('the command "print" ended with exit code 1');
    expect((await vaults.open(session, ['v'])).forCommand('v/printed')).toBe('printed-value-9');
  });

  it('is shown by its name, and by nothing else, to the agent', async () => {
    const secrets = await secretsWith({
      v: {
        token: { value: 'token-value-77', hosts: ['a.example'], description: 'For releases.' },
        gone: { env: 'NOT_SET', commands: true },
      },
    });
    const listed = await createVaultListTool().run?.(
      {},
      {
        session,
        callId: 'c',
        workspaceDirectory: '/',
        signal: new AbortController().signal,
        environment: environmentWith({ secrets }),
      },
    );
    expect(listed).toEqual({
      secrets: [
        { reference: 'v/token', description: 'For releases.', hosts: ['a.example'], commands: false },
        { reference: 'v/gone', hosts: [], commands: true, problem: expect.stringContaining('NOT_SET') as string },
      ],
    });
    expect(JSON.stringify(listed)).not.toContain('token-value-77');
  });

  it('of one session is taken out of what every other one says, and given to none of them', async () => {
    const vaults = vaultsWith({ v: { token: { value: 'token-value-77', commands: true } } });
    const without = await vaults.open({ sessionId: 'child', agentId: 'b' }, []);
    expect(without.text('token-value-77')).toBe('token-value-77');
    await vaults.open(session, ['v']);
    for (const other of [without, vaults.known]) {
      expect([other.text('token-value-77'), other.names]).toEqual(['[redacted v/token]', []]);
      expect(() => other.forCommand('v/token')).toThrow(expect.objectContaining({ code: 'SECRET_UNKNOWN' }) as Error);
    }
  });

  it('of whoever a session works for is taken out, and not given', async () => {
    const child = await vaultsWith({
      v: { token: { value: 'token-value-77', commands: true } },
      w: { own: { value: 'own-value-78', commands: true } },
    }).open(session, ['w'], { takenOut: ['v', 'w'] });
    expect(child.text('token-value-77 own-value-78')).toBe('[redacted v/token] [redacted w/own]');
    expect(child.names.map(({ reference }) => reference)).toEqual(['w/own']);
    expect(() => child.forCommand('v/token')).toThrow(expect.objectContaining({ code: 'SECRET_UNKNOWN' }) as Error);
  });

  it('that becomes known while a stream runs is taken out of the rest of it', async () => {
    const vaults = vaultsWith({ v: { token: { value: 'token-value-77' } }, w: { other: { value: 'other-value-78' } } });
    const stream = (await vaults.open(session, ['v'])).bytes();
    await vaults.open({ ...session, sessionId: 't' }, ['w']);
    expect(new TextDecoder().decode(stream?.add(new TextEncoder().encode('other-value-78.')))).toBe(
      '[redacted w/other].',
    );
  });

  it('costs nothing where there are no vaults', async () => {
    const secrets = await vaultsWith({}).open(session, []);
    expect(secrets.bytes()).toBeUndefined();
    expect(secrets.names).toEqual([]);
  });
});

describe('events', () => {
  it('lose what was said and keep what they are held together by', async () => {
    const secrets = await secretsWith({ v: { token: { value: 'token-value-77' } } });
    const drafts = secrets.drafts([
      { type: 'agent.message', data: { text: 'It is token-value-77.', spanId: 'token-value-77' } },
      {
        type: 'agent.tool_use',
        data: {
          callId: 'token-value-77',
          name: 'run',
          input: { 'token-value-77': { requestId: 'token-value-77' } },
          spanId: 's',
        },
      },
      {
        type: 'wake.ended',
        data: { wakeId: 'w', outcome: 'sleep', summary: 'fine', modelSteps: 1, completedWakeIds: [] },
      },
    ]);
    expect(drafts[0]).toEqual({
      type: 'agent.message',
      data: { text: 'It is [redacted v/token].', spanId: 'token-value-77' },
    });
    expect(drafts[1]).toMatchObject({
      data: { callId: 'token-value-77', input: { '[redacted v/token]': { requestId: '[redacted v/token]' } } },
    });
    expect(drafts[2]?.data).toMatchObject({ summary: 'fine' });
  });

  it('stay the same where there is nothing to take out', async () => {
    const secrets = await secretsWith({ v: { token: { value: 'token-value-77' } } });
    const drafts = [{ type: 'agent.message' as const, data: { text: 'Nothing.', spanId: 's' } }];
    expect(secrets.drafts(drafts)).toBe(drafts);
  });

  it('still fit where what stands in place of a secret is longer than it', async () => {
    const secrets = await secretsWith({
      'a-vault-with-a-long-name': { 'and-a-secret-with-another-one': { value: 'x1y2z3w4' } },
    });
    const [draft] = secrets.drafts([
      { type: 'session.status_changed', data: { to: 'idle', reason: 'x1y2z3w4 '.repeat(220).slice(0, 1_980) } },
    ]);
    expect(draft?.data).toMatchObject({ reason: '*** '.repeat(220) });
  });

  it('lose what only a model can read with the words that it belongs to', async () => {
    const secrets = await secretsWith({ v: { token: { value: 'token-value-77' } } });
    const opaque = { provider: 'p', data: { signature: 'abc' } };
    const [changed, same] = secrets.drafts([
      { type: 'agent.thinking', data: { text: 'token-value-77', spanId: 's', opaque } as never },
      { type: 'agent.thinking', data: { text: 'nothing', spanId: 's', opaque } as never },
    ]);
    expect(changed?.data).toEqual({ text: '[redacted v/token]', spanId: 's' });
    expect(same?.data).toMatchObject({ opaque });
  });
});
