/** The words of `wakechart chat`: its options, help and examples. */
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty } from '../usage.ts';

export function addChatCommand(program: Command, run: RunWork): void {
  const chat = program
    .command('chat')
    .description('talk with an agent at the terminal: its words as they come, what it runs, what it asks');
  withExamples(
    chat,
    'wakechart chat',
    'wakechart chat --agent reviewer',
    'wakechart chat --resume',
    'wakechart chat --resume 0198c7de',
  )
    .option('--agent <name>', 'the agent (default: the only one that there is)', nonEmpty)
    .option('--resume [id]', 'go on with a session; without an id with the newest, of the agent where one is named')
    .option('--environment <name>', "the environment in which a new session works (default: its agent's)", nonEmpty)
    .action(
      ({
        agent,
        resume,
        environment,
      }: {
        readonly agent?: string;
        readonly resume?: string | true;
        readonly environment?: string;
      }) => run(chat, async (context) => (await import('./chat.ts')).runChat(context, { agent, resume, environment })),
    );
}
