/** What ACP agents ask permission for, kind by kind, under each mode: as docs/backends.md has it in one table. */
import { describe, expect, it } from 'vitest';
import { backendTool } from '../../../src/actors/wake/backend-tool.ts';
import { createFileTools } from '../../../src/adapters/file-tools/file-tools.ts';
import { createShellRunTool } from '../../../src/actors/turn/shell-run-tool.ts';
import { toolMeaning, toolName } from '../../../src/adapters/acp/tool-meaning.ts';
import type { ToolCallFacts } from '../../../src/adapters/acp/tool-meaning.ts';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { decidePermission } from '../../../src/machines/permission/permission-decision.ts';
import type { PermissionQuestion } from '../../../src/machines/permission/permission-decision.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { readPage } from '../../docs/pages.ts';

const WORKSPACE = '/w';
const IN = `${WORKSPACE}/notes.txt`;
const OUT = '/etc/profile';
// Judged and never run.
const TOOLS = [...createFileTools(), createShellRunTool(undefined as never)];
const RULE = parseRule('deny write(secret/**)');

type Mode = PermissionQuestion['mode'];

function judged(facts: ToolCallFacts, mode: Mode, policy: PermissionQuestion['policy'] = []): string {
  const session = { sessionId: 's', agentId: 'a' };
  const { tool, subject, ...judgedAs } = backendTool({
    name: toolName(facts),
    means: toolMeaning(facts),
    tools: TOOLS,
    session,
    workspaceDirectory: WORKSPACE,
  });
  const reading = subject.kind === 'shell' ? readShell(subject.command) : undefined;
  const { decision } = decidePermission({
    definition: tool.definition,
    subject,
    reading,
    workspaceDirectory: WORKSPACE,
    mode,
    policy,
    sessionRules: [],
    humans: 'reachable',
    ...judgedAs,
  });
  return { allow: 'runs', ask: 'asks', deny: 'denied' }[decision];
}

/** By the first cell of the table: what an agent says of such a call, in each way in which agents say it. */
const ASKED: Readonly<Record<string, readonly ToolCallFacts[]>> = {
  '`read` of one file': [
    { kind: 'read', locations: [{ path: IN }] },
    { kind: 'read', rawInput: { file_path: IN, limit: 10 } },
  ],
  '`search`': [
    { kind: 'search', rawInput: { pattern: 'x' } },
    { kind: 'search', rawInput: { pattern: 'x', path: WORKSPACE } },
  ],
  '`read`, `search`, of what is not told for sure': [
    { kind: 'read' },
    { kind: 'read', locations: [{ path: IN }, { path: `${WORKSPACE}/b` }] },
  ],
  '`edit` of one file': [
    { kind: 'edit', locations: [{ path: IN }], content: [{ type: 'diff', path: IN }] },
    { kind: 'edit', rawInput: { file_path: IN, old_string: 'a', new_string: 'b' } },
  ],
  '`edit`, `delete`, `move`, of what is not told for sure': [
    { kind: 'edit', title: 'Edit a file' },
    { kind: 'edit', rawInput: { file: 'notes.txt' } },
    // One file, told in two ways.
    { kind: 'edit', locations: [{ path: IN }], content: [{ type: 'diff', path: 'notes.txt' }] },
    {
      kind: 'edit',
      locations: [{ path: IN }, { path: `${WORKSPACE}/b` }],
      rawInput: { changes: { [IN]: { unified_diff: '--- a\n+++ b' } } },
    },
    { kind: 'delete', locations: [{ path: IN }] },
    { kind: 'move', locations: [{ path: IN }], rawInput: { destination: `${WORKSPACE}/b` } },
  ],
  'any of these, with a path that leads out of the workspace': [
    { kind: 'read', locations: [{ path: OUT }] },
    { kind: 'edit', locations: [{ path: OUT }] },
    { kind: 'edit', locations: [{ path: IN }, { path: OUT }] },
    { kind: 'edit', rawInput: { path: '../x' } },
    { kind: 'delete', rawInput: { target: '~/x' } },
    { kind: 'move', locations: [{ path: IN }], rawInput: { destination: OUT } },
  ],
  '`execute` of a command': [
    { kind: 'execute', rawInput: { command: 'npm run build', cwd: WORKSPACE } },
    { kind: 'execute', rawInput: { command: ['npm', 'run', 'build'] } },
  ],
  '`execute`, without the command': [{ kind: 'execute', title: '`npm test`' }],
  '`fetch`, `think`, `switch_mode`, `other`': [
    { kind: 'fetch', rawInput: { url: 'https://example.com/' } },
    { kind: 'think' },
    { kind: 'switch_mode' },
    { kind: 'other', title: 'search issues' },
    {},
  ],
};

const page = readPage('docs/backends.md').split('\n');
const start = page.findIndex((line) => line.startsWith('| an ACP agent asks for |'));
const rows = page
  .slice(
    start + 2,
    page.findIndex((line, index) => index > start && !line.startsWith('|')),
  )
  .map((line) => line.slice(2, -2).split(' | '));

describe('what an ACP agent asks for', () => {
  it('is what the page lists', () => {
    expect(rows.map(([asked]) => asked)).toEqual(Object.keys(ASKED));
  });

  it.each(rows)(
    '%s: with preapproved it %s (with a rule against some path it %s), with ask it %s, with deny it is %s',
    (asked = '', ...expected) => {
      for (const facts of ASKED[asked] ?? []) {
        expect([
          facts,
          judged(facts, 'preapproved'),
          judged(facts, 'preapproved', [RULE]),
          judged(facts, 'ask'),
          judged(facts, 'deny'),
        ]).toEqual([facts, ...expected]);
      }
    },
  );

  it('is denied for a rule that denies all calls of such a tool, however little is told', () => {
    for (const kind of ['edit', 'delete', 'move', 'execute'])
      expect(judged({ kind }, 'preapproved', [parseRule('deny write')])).toBe('denied');
  });

  it('is allowed by no rule for a tool of ours where it is not told what it is about', () => {
    for (const kind of ['edit', 'delete', 'move'])
      expect(judged({ kind }, 'ask', [parseRule('allow write(**)'), parseRule('allow write')])).toBe('asks');
  });
});
