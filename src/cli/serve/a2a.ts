/** `wakechart serve a2a`: an agent for other agents, on this machine. */
import { randomBytes } from 'node:crypto';
import { createA2aHandler, requireToken } from '../../adapters/a2a/a2a-handler.ts';
import type { A2aHandler } from '../../adapters/a2a/a2a-handler.ts';
import { listenA2a } from '../../adapters/a2a/a2a-listener.ts';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import type { CommandContext } from '../context.ts';
import { packageVersion } from '../package-version.ts';
import { bears } from './bearer-token.ts';
import { serve } from './served.ts';
import type { Service, ServeWords } from './served.ts';

export interface ServeA2aWords extends ServeWords {
  readonly agent: string;
  readonly port: number;
  readonly allowAnswers: boolean;
}

/** Holds the token that clients have to send. Default: a new one, which is told. */
const TOKEN_VARIABLE = 'WAKECHART_A2A_TOKEN';
const TOKEN_BYTES = 24;

export function serveA2aCommand(context: CommandContext, words: ServeA2aWords): Promise<number> {
  return serve(context, words, (runtime, onTrouble) => openA2a(context, words, { runtime, onTrouble }));
}

async function openA2a(
  { err }: CommandContext,
  { agent: agentId, port, allowAnswers }: ServeA2aWords,
  { runtime, onTrouble }: { readonly runtime: NodeRuntime; readonly onTrouble: (error: unknown) => void },
): Promise<Service> {
  const given = process.env[TOKEN_VARIABLE];
  const token = requireToken(given ?? randomBytes(TOKEN_BYTES).toString('base64url'));
  let handler: A2aHandler | undefined;
  const listener = await listenA2a(
    async (url) => {
      const made = await createA2aHandler(runtime, {
        agentId,
        url,
        version: packageVersion(),
        authorize: (request) => bears(request, token),
        allowAnswers,
        onTrouble,
      });
      handler = made;
      return (request) => made.handle(request);
    },
    { port, onTrouble },
  );
  await err.line(`${err.styles.cyan('a2a:')} ${listener.origin}/.well-known/agent-card.json`);
  if (given === undefined) await err.line(`${err.styles.cyan('token:')} ${token}`);
  let tell: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return {
    closed,
    close: async () => {
      handler?.close();
      await listener.close();
      tell();
    },
  };
}
