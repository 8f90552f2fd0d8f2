/** `wakechart serve acp`: an agent of the Agent Client Protocol for editors. */
import { serveAcp } from '../../adapters/acp-agent/acp-agent.ts';
import { HomeLayout } from '../../adapters/files/layout.ts';
import type { CommandContext } from '../context.ts';
import { packageVersion } from '../package-version.ts';
import { serve } from './served.ts';
import type { ServeWords } from './served.ts';

export interface ServeAcpWords extends ServeWords {
  readonly agent?: string | undefined;
}

export function serveAcpCommand(context: CommandContext, words: ServeAcpWords): Promise<number> {
  const layout = new HomeLayout(context.home);
  return serve(context, words, (runtime, onTrouble) =>
    serveAcp(runtime, {
      version: packageVersion(),
      input: process.stdin,
      output: process.stdout,
      agentId: words.agent,
      workspaceOf: (session) => session.workspace ?? layout.ownWorkspace(session),
      onTrouble,
    }),
  );
}
