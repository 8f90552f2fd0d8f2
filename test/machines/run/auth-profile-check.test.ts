import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { checkedAuthProfile, looksLikeKey } from '../../../src/machines/run/auth-profile-check.ts';
import type { AuthProfile } from '../../../src/machines/run/auth-profile.ts';

const KEYS = [
  'sk-ant-api03-abcdefgh-0123456789',
  'sk-proj-0123456789abcdef',
  'sk_live_0123456789abcdef',
  'AIzaSyA0123456789abcdefghijklmnopqrs',
  'ghp_0123456789abcdefghijABCDEFGHIJ012345',
  'gsk_0123456789abcdefghij',
  'AKIA0123456789ABCDEF',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  '0123456789abcdef0123456789abcdef',
  'aB3dE5gH7jK9mN1pQ3sT',
];

const NAMES = [
  'ANTHROPIC_API_KEY',
  'KEY2',
  'MY_COMPANY_PRODUCTION_ANTHROPIC_API_KEY_2',
  'openai_key_for_the_team',
  'pass',
  '/usr/bin/secret-tool',
  'find-generic-password',
  'openai/work',
  '--account',
  '/srv/Accounts/Team2/claude-settings',
  'op://Private/OpenAI Account 2/credential',
];

describe('a key', () => {
  it.each(KEYS)('is seen in %s', (text) => expect(looksLikeKey(text)).toBe(true));

  it.each(NAMES)('is not seen in %s', (text) => expect(looksLikeKey(text)).toBe(false));

  it.each(KEYS)('%s is kept nowhere, and no complaint repeats it', (key) => {
    const places: readonly unknown[] = [
      { id: key, provider: 'p', secret: { env: 'A' } },
      { id: 'work', provider: key, secret: { env: 'A' } },
      { id: 'work', provider: 'p', secret: { env: key } },
      { id: 'work', provider: 'p', secret: { command: ['echo', key] } },
      { id: 'work', provider: 'p', secret: { command: ['sh', '-c', `echo ${key}`] } },
      { id: 'work', provider: 'p', environment: { TOKEN: key } },
      { id: 'work', provider: 'p', environment: { [key]: 'x' } },
    ];
    for (const place of places) {
      const error: unknown = refusalOf(place);
      expect(RuntimeError.is(error) && error.code).toBe('AUTH_PROFILE_INVALID');
      expect(JSON.stringify(error)).not.toContain(key);
    }
  });
});

function refusalOf(profile: unknown): unknown {
  try {
    return checkedAuthProfile(profile as AuthProfile);
  } catch (error) {
    return error;
  }
}
