import { describe, expect, it } from 'vitest';
import type { AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { AgentRuntimeRegistry } from '../../../src/actors/run/agent-runtime-registry.ts';

const backend = (id: string): AgentRuntime => ({
  id,
  run: async () => ({ payloads: [] }),
  abort: async () => undefined,
  isRunActive: () => false,
});

describe('the registry of backends', () => {
  it('serves a provider with the backend of its name', () => {
    const script = backend('script');
    expect(new AgentRuntimeRegistry([script]).resolve('script')).toBe(script);
  });

  it('serves a provider with the backend that is configured for it, and every provider with the one that is named', () => {
    const [one, other] = [backend('one'), backend('other')];
    const registry = new AgentRuntimeRegistry([one, other]);
    expect(registry.resolve('ollama', { providers: { ollama: { backend: 'one' } } })).toBe(one);
    expect(registry.resolve('one', { backend: 'other' })).toBe(other);
  });

  it.each([
    ['script', {}, /expected a backend for the provider "script"; registered: other/],
    [
      'other',
      { backend: 'gone' },
      /expected the backend "gone" that is configured for the provider "other"; registered: other/,
    ],
    ['other', { providers: { other: { backend: 'gone' } } }, /the backend "gone"/],
    ['constructor', {}, /"constructor"/],
  ] as const)('never replaces a missing backend by another: %s with %j', (provider, config, pattern) => {
    expect(() => new AgentRuntimeRegistry([backend('other')]).resolve(provider, config)).toThrow(pattern);
  });

  it('holds one backend per id, until it is unregistered', () => {
    const registry = new AgentRuntimeRegistry([backend('a')]);
    expect(() => registry.register(backend('a'))).toThrow(/registered already/);
    expect(registry.unregister('a')).toBe(true);
    expect(registry.unregister('a')).toBe(false);
    registry.register(backend('a'));
    expect(registry.list().map(({ id }) => id)).toEqual(['a']);
    expect(registry.get('b')).toBeUndefined();
  });

  it.each([{}, { id: '' }, { id: 'x' }, { id: 5, run: () => undefined }, null, undefined, 'script'])(
    'takes nothing that cannot run: %j',
    (candidate) => {
      expect(() => new AgentRuntimeRegistry().register(candidate as unknown as AgentRuntime)).toThrow(
        /expected a backend/,
      );
    },
  );
});
