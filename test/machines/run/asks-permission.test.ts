/** Which programs ask before they act. */
import { describe, expect, it } from 'vitest';
import { providerAsks } from '../../../src/machines/run/asks-permission.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';

describe('a provider', () => {
  it.each<[string, boolean, ProviderSettings?]>([
    ['codex', false],
    ['claude-code', true],
    ['anthropic', true],
    ['nobody-knows', true],
    ['constructor', true],
    ['codex', true, { backend: 'embedded', api: 'openai' }],
    ['mine', false, { backend: 'cli-agent', dialect: 'codex', program: { command: 'x' } }],
    ['mine', true, { backend: 'acp', program: { command: 'x' } }],
    ['mine', true, { backend: 'cli-agent', dialect: 'claude', options: { 'permission-mode': 'plan' } }],
    ['mine', false, { backend: 'cli-agent', dialect: 'claude', options: { 'permission-mode': 'bypassPermissions' } }],
    ['mine', false, { backend: 'cli-agent', dialect: 'claude', options: { 'dangerously-skip-permissions': true } }],
  ])('%s: %s', (provider, asks, settings) => {
    expect(providerAsks(provider, settings === undefined ? undefined : { [provider]: settings })).toBe(asks);
  });
});
