/** What is said about an agent whose permissions nobody would ask about. */
import { describe, expect, it } from 'vitest';
import { checkedFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { agentWarnings } from '../../../src/machines/agent/agent-warnings.ts';
import { pathOf } from '../../../src/machines/validate.ts';

const HOME = { providers: ['anthropic', 'codex'], profiles: [], unasking: ['codex'] } as const;
const warned = (more: object): string[] => agentWarnings(checkedFrontmatter.parse({ name: 'x', provider: 'codex', model: 'm', ...more }), { builtinTools: [], home: HOME }).map(({ path, message }) => `${pathOf(path)}: ${message}`);

describe('permissions with a program that asks nobody', () => {
  it.each([{}, { permission: 'preapproved' }, { provider: 'anthropic', permission: 'ask' }, { permission: { mode: 'preapproved', allow: ['read'] } }])('%j is fine', (more) => {
    expect(warned(more)).toEqual([]);
  });

  it.each([{ permission: 'ask' }, { permission: 'deny' }, { permission: { mode: 'preapproved', deny: ['read(keys/**)'] } }, { permission: { mode: 'preapproved', ask: ['write'] } }])('%j would bind nothing', (more) => {
    expect(warned(more)).toEqual([expect.stringMatching(/^provider: "codex" asks nobody before it acts/)]);
  });

  it('would not bind it as a fallback either', () => {
    expect(warned({ provider: 'anthropic', fallbacks: ['codex/m'], permission: 'ask' })).toEqual([expect.stringMatching(/^fallbacks.*0.*: "codex" asks nobody/)]);
  });
});
