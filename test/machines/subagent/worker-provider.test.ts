/** Provider profiles: what they come to, and what they may not be. */
import { describe, expect, it } from 'vitest';
import { keyVariables, providerIn, providerOf, withProvider } from '../../../src/machines/subagent/worker-provider.ts';

describe('a provider profile', () => {
  it.each([
    ['mine', { name: 'mine' }],
    [{ name: 'mine' }, { name: 'mine' }],
    [
      { name: 'anthropic', model: 'm' },
      { name: 'anthropic', model: 'm' },
    ],
    [
      { provider: 'anthropic' },
      { name: 'anthropic', settings: { backend: 'embedded', api: 'anthropic', keyVariable: 'ANTHROPIC_API_KEY' } },
    ],
    [
      { type: 'ollama', baseUrl: 'http://127.0.0.1:9/v1' },
      {
        name: 'ollama',
        settings: { backend: 'embedded', api: 'openai-chat', baseUrl: 'http://127.0.0.1:9/v1', needsKey: false },
      },
    ],
    [
      { name: 'work', provider: 'openai', apiKeyEnv: 'WORK_KEY', options: { serviceTier: 'flex' } },
      {
        name: 'work',
        settings: { backend: 'embedded', api: 'openai', keyVariable: 'WORK_KEY', options: { serviceTier: 'flex' } },
      },
    ],
    [
      { name: 'openai', apiKeyEnv: 'WORK_KEY' },
      { name: 'openai', settings: { backend: 'embedded', api: 'openai', keyVariable: 'WORK_KEY' } },
    ],
    [
      { name: 'play', provider: 'script' },
      { name: 'play', settings: { backend: 'script' } },
    ],
  ])('%j comes to a provider by name', (profile, named) => {
    expect(providerOf(profile)).toEqual(named);
  });

  it.each([
    [{}, /name or a provider/],
    [{ name: 'x', apiKey: 'the-secret' }, /apiKey/],
    [{ name: 'x', apiKeyEnv: 'the secret' }, /name of a variable/],
    [{ name: 'x', baseUrl: 'http://127.0.0.1' }, /not which one/],
    [{ provider: 'openai', baseUrl: 'ftp://x' }, /http/],
    [{ provider: 'openai', type: 'anthropic' }, /received both/],
    [7, /provider profile is not valid/],
    [null, /provider profile is not valid/],
  ])('%j is refused', (profile, message) => {
    expect(() => providerOf(profile)).toThrow(message);
    expect(() => providerOf(profile)).not.toThrow(/the-secret|the secret/);
  });

  it('goes before what is in the table under its name', () => {
    const table = { mine: { backend: 'a' }, other: { backend: 'b', keyVariable: 'OTHER_KEY' } };
    expect(withProvider(table, { name: 'mine' })).toBe(table);
    expect(withProvider(table, { name: 'mine', settings: { backend: 'c' } })).toEqual({
      mine: { backend: 'c' },
      other: table.other,
    });
  });
});

describe('the variables that a job is given', () => {
  it('are those of the providers that it may speak with, and of their accounts', () => {
    const table = {
      other: { backend: 'b', keyVariable: 'OTHER_KEY' },
      mine: { backend: 'cli-agent', program: { command: 'x', pass: ['PASSED'] } },
      openai: { backend: 'embedded', keyVariable: 'OUR_KEY' },
    };
    const accounts = [
      { id: 'work', provider: 'mine', secret: { env: 'WORK_KEY' } },
      { id: 'chain', provider: 'mine', secret: { command: ['pass', 'show'] } },
      { id: 'else', provider: 'else', secret: { env: 'ELSE_KEY' } },
    ];
    expect(keyVariables([], table, accounts)).toEqual([]);
    expect(keyVariables(['other', 'mine', 'other', 'nobody', 'constructor'], table, accounts)).toEqual([
      'OTHER_KEY',
      'PASSED',
      'WORK_KEY',
    ]);
    expect(keyVariables(['openai', 'anthropic'], table)).toEqual(['OUR_KEY', 'ANTHROPIC_API_KEY']);
  });

  it.each([
    ['anthropic/large', ['anthropic']],
    ['openrouter/meta/llama', ['openrouter']],
    ['large', []],
    ['/large', []],
    [undefined, []],
  ])('of a model asked for as %j are those of %j', (model, providers) => {
    expect(providerIn(model)).toEqual(providers);
  });
});
