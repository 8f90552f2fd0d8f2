/** Questions about command lines as the runtime asks them. */
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { decidePermission } from '../../../src/machines/permission/permission-decision.ts';
import type { PermissionDecision, PermissionQuestion } from '../../../src/machines/permission/permission-decision.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';

export const SHELL_RUN: PermissionQuestion['definition'] = {
  name: 'shell_run',
  permissionPolicy: 'always_allow',
  readOnly: false,
  destructive: true,
};

export interface LineOptions extends Partial<
  Omit<PermissionQuestion, 'policy' | 'sessionRules' | 'subject' | 'reading'>
> {
  readonly policy?: readonly string[];
  readonly session?: readonly string[];
  readonly cwd?: string;
  readonly isolated?: boolean;
}

export function decideLine(
  command: string,
  { policy = [], session = [], cwd = '/ws', isolated, ...rest }: LineOptions = {},
): PermissionDecision {
  return decidePermission({
    definition: SHELL_RUN,
    subject: { kind: 'shell', command, cwd, isolated },
    reading: readShell(command),
    workspaceDirectory: '/ws',
    mode: 'ask',
    policy: policy.map((rule) => parseRule(rule)),
    sessionRules: session.map((rule) => parseRule(rule)),
    humans: 'reachable',
    ...rest,
  });
}
