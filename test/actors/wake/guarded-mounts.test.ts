import { describe, expect, it } from 'vitest';
import { backendTool } from '../../../src/actors/wake/backend-tool.ts';
import { guardedPlace } from '../../../src/actors/wake/guarded-places.ts';
import { toolMeaning } from '../../../src/adapters/acp/tool-meaning.ts';
import { decidePermission } from '../../../src/machines/permission/permission-decision.ts';
import { anyInput } from '../../../src/machines/turn/tool-definition.ts';

describe('the guard of the home', () => {
  it('does not ask for what a mount gives, and does for the same place under its own path', async () => {
    const guard = { protects: () => Promise.resolve(true), isFolder: () => Promise.resolve(true) };
    const call = { reading: undefined, workspaceDirectory: '/ws' };
    expect(
      await guardedPlace(guard, {
        ...call,
        subject: { kind: 'path', path: '/runtime/notes.md', mount: '/runtime', access: 'write' },
      }),
    ).toBeUndefined();
    expect(
      await guardedPlace(guard, {
        ...call,
        subject: { kind: 'path', path: '/home-of-it/sessions/s/runtime/checkpoint.json', access: 'write' },
      }),
    ).toContain('lies in the home');
  });

  it.each([
    ['delete', 'w/home/policy/all.yaml'],
    ['move', 'w/home/policy/all.yaml'],
    ['edit', 'w/home/policy/all.yaml'],
  ])('asks before a tool of a backend does this there, whatever the mode says: %s', async (kind, path) => {
    const guard = {
      protects: (each: string) => Promise.resolve(each.includes('w/home/')),
      isFolder: () => Promise.resolve(false),
    };
    const decide = async (paths: readonly string[]): Promise<string> => {
      const means = toolMeaning({ kind, rawInput: { paths }, locations: paths.map((each) => ({ path: each })) });
      const definition = {
        name: 'write',
        description: 'Writes.',
        inputSchema: anyInput,
        ownership: 'managed',
        permissionPolicy: 'always_allow',
        readOnly: false,
        destructive: true,
        interruptBehavior: 'cancel',
      } as const;
      const write = { definition, subject: () => ({ kind: 'path', path: '/ws/a', access: 'write' }) as const };
      const { tool, subject, kin, doubt, changes } = backendTool({
        name: 'x',
        means,
        tools: [write],
        session: { sessionId: 's', agentId: 'a' },
        workspaceDirectory: '/ws',
      });
      const guarded = await guardedPlace(guard, { subject, reading: undefined, workspaceDirectory: '/ws', changes });
      return decidePermission({
        definition: tool.definition,
        subject,
        workspaceDirectory: '/ws',
        mode: 'preapproved',
        policy: [],
        sessionRules: [],
        humans: 'reachable',
        kin,
        doubt,
        guarded,
      }).decision;
    };
    expect(await decide(['a.txt', path])).toBe('ask');
    expect(await decide(['a.txt', 'b.txt'])).toBe('allow');
  });
});
