/** `wakechart serve mcp`: sessions and tasks as tools of the Model Context Protocol. */
import { serveMcp } from '../../adapters/mcp-server/mcp-server.ts';
import type { CommandContext } from '../context.ts';
import { packageVersion } from '../package-version.ts';
import { serve } from './served.ts';
import type { ServeWords } from './served.ts';

export interface ServeMcpWords extends ServeWords {
  readonly allowAnswers: boolean;
  readonly allowCommands: boolean;
}

export function serveMcpCommand(context: CommandContext, words: ServeMcpWords): Promise<number> {
  return serve(context, words, (runtime, onTrouble) =>
    serveMcp(runtime, {
      version: packageVersion(),
      input: process.stdin,
      output: process.stdout,
      cwd: process.cwd(),
      allowAnswers: words.allowAnswers,
      allowCommands: words.allowCommands,
      onTrouble,
    }),
  );
}
