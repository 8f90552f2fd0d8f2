/** What may be said of a provider. */
import { describe, expect, it } from 'vitest';
import { providerSettings } from '../../../src/machines/run/provider-settings.ts';

const withAddress = (baseUrl: string) =>
  providerSettings.safeParse({ backend: 'embedded', api: 'openai-chat', baseUrl });

describe('the address of a provider', () => {
  it.each([
    'http://ghp_tokenvalue1234@host.example/v1',
    'https://user:p%2Fassword@host.example/v1',
    'http://user:pa@ss@host.example',
    'https://:hunter22@host.example',
  ])('holds no name and no password: %s', (address) => {
    const { error } = withAddress(address);
    expect(error?.message).toContain('belong into an account');
    expect(error?.message).not.toMatch(/tokenvalue|p%2F|pa@ss|hunter/);
  });

  it.each(['http://127.0.0.1:8000/v1', 'https://host.example/@scope/v1', 'https://host.example/v1?at=@'])(
    'may be any other: %s',
    (address) => {
      expect(withAddress(address).success).toBe(true);
    },
  );
});
