/** What is said about an agent whose permissions nobody would ask about, or that names what is not there. */
import { describe, expect, it } from 'vitest';
import { checkedFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { agentWarnings } from '../../../src/machines/agent/agent-warnings.ts';
import type { KnownHome } from '../../../src/machines/agent/model-warnings.ts';
import { pathOf } from '../../../src/machines/validate.ts';

const HOME = { providers: ['anthropic', 'codex'], profiles: [], unasking: ['codex'] } as const;
const warned = (more: object): string[] =>
  agentWarnings(checkedFrontmatter.parse({ name: 'x', provider: 'codex', model: 'm', ...more }), {
    builtinTools: [],
    home: HOME,
  }).map(({ path, message }) => `${pathOf(path)}: ${message}`);

describe('permissions with a program that asks nobody', () => {
  it.each([
    {},
    { permission: 'preapproved' },
    { provider: 'anthropic', permission: 'ask' },
    { permission: { mode: 'preapproved', allow: ['read'] } },
  ])('%j is fine', (more) => {
    expect(warned(more)).toEqual([]);
  });

  it.each([
    { permission: 'ask' },
    { permission: 'deny' },
    { permission: { mode: 'preapproved', deny: ['read(keys/**)'] } },
    { permission: { mode: 'preapproved', ask: ['write'] } },
  ])('%j would bind nothing', (more) => {
    expect(warned(more)).toEqual([expect.stringMatching(/^provider: "codex" asks no person before it acts/)]);
  });

  it('would not bind it as a fallback either', () => {
    expect(warned({ provider: 'anthropic', fallbacks: ['codex/m'], permission: 'ask' })).toEqual([
      expect.stringMatching(/^fallbacks.*0.*: "codex" asks no person/),
    ]);
  });
});

describe('an agent that names what its home does not have', () => {
  const home = { ...HOME, environments: ['builds', 'host'], skills: ['release-notes'] };
  const warnedThere = (more: object, known: KnownHome = home): string[] =>
    agentWarnings(checkedFrontmatter.parse({ name: 'x', provider: 'anthropic', model: 'm', ...more }), {
      builtinTools: [],
      home: known,
    }).map(({ path, message }) => `${pathOf(path)}: ${message}`);

  it('is told so, with what was probably meant', () => {
    expect(warnedThere({ environment: 'buidls' })).toEqual([
      'environment: there is no environment "buidls" in this home; did you mean "builds"?; none of its sessions will wake until there is',
    ]);
    expect(warnedThere({ environment: 'laboratory' })).toEqual([
      'environment: there is no environment "laboratory" in this home; none of its sessions will wake until there is',
    ]);
    expect(warnedThere({ skills: ['release-notes', 'relase-notes'] })).toEqual([
      'skills[1]: there is no skill "relase-notes" for it in this home; did you mean "release-notes"?; the agent does without it',
    ]);
  });

  it('is not, where everything is there or nobody knows', () => {
    expect(warnedThere({ environment: 'builds', skills: ['release-notes'] })).toEqual([]);
    expect(warnedThere({})).toEqual([]);
    expect(warnedThere({ environment: 'ghost', skills: ['ghost'] }, HOME)).toEqual([]);
  });
});
