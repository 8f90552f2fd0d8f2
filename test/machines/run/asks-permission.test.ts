/** Which programs ask before they act. */
import { describe, expect, it } from 'vitest';
import { providerAsks } from '../../../src/machines/run/asks-permission.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';

describe('a provider', () => {
  it.each<[string, boolean | 'where_bound', ProviderSettings?]>([
    ['codex', 'where_bound'],
    ['claude-code', true],
    ['anthropic', true],
    ['nobody-knows', true],
    ['constructor', true],
    ['codex', true, { backend: 'embedded', api: 'openai' }],
    ['mine', 'where_bound', { backend: 'cli-agent', dialect: 'codex', program: { command: 'x' } }],
    ['mine', true, { backend: 'cli-agent', dialect: 'codex', options: { 'ask-for-approval': 'untrusted' } }],
    ['mine', false, { backend: 'cli-agent', dialect: 'codex', options: { 'ask-for-approval': 'on-request' } }],
    ['mine', false, { backend: 'cli-agent', dialect: 'codex', options: { yolo: true } }],
    ['mine', 'where_bound', { backend: 'acp', program: { command: 'x' } }],
    ['mine', false, { backend: 'acp', options: { settings: { mode: 'auto' } } }],
    ['mine', false, { backend: 'acp', options: { settings: { permission_mode: 'auto' } } }],
    ['mine', 'where_bound', { backend: 'acp', options: { settings: { model: 'auto' } } }],
    ['mine', true, { backend: 'cli-agent', dialect: 'claude', options: { 'permission-mode': 'plan' } }],
    ['mine', false, { backend: 'cli-agent', dialect: 'claude', options: { 'permission-mode': 'bypassPermissions' } }],
    ['mine', false, { backend: 'cli-agent', dialect: 'claude', options: { 'dangerously-skip-permissions': true } }],
  ])('%s: %s', (provider, asks, settings) => {
    expect(providerAsks(provider, settings === undefined ? undefined : { [provider]: settings })).toBe(asks);
  });
});
