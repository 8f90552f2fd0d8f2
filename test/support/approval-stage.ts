/** A session whose agent calls tools that ask in different ways. */
import { readShell } from '../../src/adapters/shell-syntax/shell-reader.ts';
import type { AgentFrontmatter } from '../../src/machines/agent/agent-definition.ts';
import { openTurnSetup } from './turn-setup.ts';
import type { Said, TurnSetup, TurnSetupOptions } from './turn-setup.ts';
import { noteTools } from './turn-tools.ts';

export const ASKS: Partial<AgentFrontmatter> = { permission: { mode: 'ask', expiresAfterSeconds: 3_600 } };

export const exec = (command: string): Said => ({ calls: [{ name: 'shell_do', input: { command } }] });
export const launch: Said = { calls: [{ name: 'launch' }] };
export const write: Said = { calls: [{ name: 'write' }] };

export interface ApprovalStage {
  readonly setup: TurnSetup;
  /** What ran, by name of the tool. */
  readonly ran: string[];
  readonly id: string;
}

/** `launch` always asks, `write` asks when the agent does, `shell_do` is judged by the command line in its input. */
export async function openApprovalStage(
  steps: readonly Said[],
  options: TurnSetupOptions & { readonly agent?: Partial<AgentFrontmatter> } = {},
): Promise<ApprovalStage> {
  const { agent = ASKS, ...ports } = options;
  const tools = noteTools();
  const setup = await openTurnSetup({
    tools: [
      tools.tool('launch', { permissionPolicy: 'always_ask' }),
      tools.tool('write'),
      tools.tool('shell_do', {
        subject: (input, { workspaceDirectory }) => ({
          kind: 'shell',
          command: String((input as { command: unknown }).command),
          cwd: workspaceDirectory,
        }),
      }),
    ],
    readShell,
    ...ports,
  });
  await setup.agent('worker', steps, agent);
  return { setup, ran: tools.ran, id: await setup.start('worker') };
}
