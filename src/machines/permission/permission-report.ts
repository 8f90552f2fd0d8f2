/**
 * What an agent is told of its permissions: how it is judged, what it waits for, and what one call would meet. As a
 * tool: its input and output.
 */
import * as z from 'zod';
import type { SessionState } from '../session/session-state.ts';
import { readsOnly } from '../turn/tool-definition.ts';
import type { ToolDefinition } from '../turn/tool-definition.ts';

const describeInput = z.strictObject({
  call: z
    .strictObject({
      name: z.string().min(1).max(200).describe('The tool.'),
      input: z.json().describe('Its input, as you would send it.'),
    })
    .optional()
    .describe('A call that is tried without being made: nothing of it runs, and no person is asked.'),
});

export type PermissionDescribeInput = Readonly<z.output<typeof describeInput>>;

const rules = z.array(z.string());

const report = z.object({
  /** `preapproved`, `ask` or `deny`, the stricter one of the agent and of its parent. */
  mode: z.enum(['preapproved', 'ask', 'deny']),
  /** `none`: whatever would ask is denied. */
  humans: z.enum(['reachable', 'none']),
  rules: z.object({ allow: rules, ask: rules, deny: rules }),
  /** Allowed by a person until the session ends. */
  session: rules,
  /** Kept for the agent or for all; absent when they cannot be read, and then nothing is allowed by itself. */
  policy: rules.optional(),
  policyProblem: z.string().optional(),
  /** The only tools, where that is bounded, and those that were taken away. */
  onlyTools: rules.optional(),
  withoutTools: rules.optional(),
  environment: z.object({ id: z.string(), sandbox: z.string(), network: z.string() }).optional(),
  waiting: z.array(
    z.object({
      requestId: z.string(),
      tool: z.string(),
      because: z.string().optional(),
      expiresAt: z.string().optional(),
    }),
  ),
  call: z
    .object({
      decision: z.enum(['run', 'ask', 'deny', 'invalid']),
      because: z.string(),
      wouldBeAllowed: rules.optional(),
    })
    .optional(),
});

export type PermissionReport = Readonly<z.output<typeof report>>;

export const permissionDescribeDefinition: ToolDefinition<PermissionDescribeInput> = {
  name: 'permission_describe',
  description:
    'Tells how calls of this session are judged: its mode, the rules that hold, what a person has allowed, what waits for an answer; and what a given call would meet, without making it.',
  inputSchema: describeInput,
  outputSchema: report,
  ...readsOnly,
  family: 'permissions',
  effects: ['reads_sessions', 'reads_files'],
};

/** The requests for permission that wait for an answer. */
export function waitingPermissions({
  pendingActions,
}: Pick<SessionState, 'pendingActions'>): PermissionReport['waiting'] {
  return pendingActions.flatMap(({ kind, requestId, toolName, question, expiresAt }) =>
    kind === 'permission'
      ? [
          {
            requestId,
            tool: toolName,
            ...(question === undefined ? {} : { because: question }),
            ...(expiresAt === undefined ? {} : { expiresAt }),
          },
        ]
      : [],
  );
}
