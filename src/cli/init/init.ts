/** `wakechart init`: a home with a first agent, and what to do next. */
import { RuntimeError } from '../../machines/errors.ts';
import { KNOWN_PROVIDERS } from '../../machines/run/provider-settings.ts';
import { createAgent } from '../agent/agent.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { checkedAgentName } from '../usage.ts';
import { withAgents } from '../open/stores.ts';
import { LineInput } from '../terminal/line-input.ts';

export interface InitOptions {
  readonly name: string;
  readonly provider: string | undefined;
  readonly model: string | undefined;
}

/** An agent that is there already is kept, so that it does no harm to say it twice. */
export async function initHome(context: CommandContext, { name, ...given }: InitOptions): Promise<number> {
  const { out, json } = context;
  const agentId = checkedAgentName(name);
  if (await isAgentThere(context, agentId)) {
    if (json) await out.document({ agentId, isNew: false });
    else await out.line(`Agent ${out.styles.bold(agentId)} is there already; nothing is changed.`);
  } else {
    const asked = given.provider === undefined && given.model === undefined ? await askedModel(context) : given;
    if (asked === undefined) {
      await context.err.line('\nNothing was made.');
      return EXIT_FAILURE;
    }
    await createAgent(context, { name: agentId, from: undefined, ...asked, next: 'none' });
  }
  if (!json) await tellNext(context, agentId);
  return EXIT_SUCCESS;
}

function isAgentThere(context: CommandContext, agentId: string): Promise<boolean> {
  return withAgents(context, ({ agents }) =>
    agents.get(agentId).then(
      () => true,
      (error: unknown) => {
        if (RuntimeError.is(error) && error.code === 'AGENT_NOT_FOUND') return false;
        throw error;
      },
    ),
  );
}

type Model = Pick<InitOptions, 'provider' | 'model'>;

const NONE: Model = { provider: undefined, model: undefined };

/** Without a terminal nothing is asked: the agent plays a script then. Undefined: the person leaves, by Ctrl-D. */
async function askedModel({ err, json, interruption }: CommandContext): Promise<Model | undefined> {
  if (json || !err.isTerminal || !process.stdin.isTTY) return NONE;
  const names = Object.keys(KNOWN_PROVIDERS);
  await err.line('Whose model is it to work with?');
  for (const [index, name] of names.entries()) await err.line(`  ${index + 1}. ${name}`);
  await err.line(`  Enter: none; it plays a small script, to see how it is`);
  const input = new LineInput(process.stdin);
  const ask = async (question: string): Promise<string | undefined> => {
    await err.write(`${question} › `);
    return (await input.line(interruption.signal))?.trim();
  };
  const said = await ask('its number or name');
  if (said === undefined) return undefined;
  const provider = /^\d+$/.test(said) ? (names[Number(said) - 1] ?? said) : said;
  if (provider === '') return NONE;
  const isProgram = KNOWN_PROVIDERS[provider]?.backend === 'cli-agent';
  const model = isProgram ? '' : await ask('which model, such as claude-sonnet-4-5, gpt-5 or qwen3');
  return model === undefined ? undefined : { provider, model: model === '' ? undefined : model };
}

async function tellNext(context: CommandContext, agentId: string): Promise<void> {
  const { out } = context;
  const next = [
    ['talk with it', nextCommand(context, 'chat', '--agent', agentId)],
    ['see and change it', nextCommand(context, 'agent', 'show', agentId)],
    ['check the home', nextCommand(context, 'doctor')],
  ] as const;
  await out.line('Next:');
  for (const [what, command] of next) await out.line(`  ${command}  ${out.styles.dim(`# ${what}`)}`);
}
