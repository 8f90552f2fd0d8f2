/** `wakechart schedule run`: what a slot of a schedule does, once and now, without being one. */
import { randomUUID } from 'node:crypto';
import { RuntimeError } from '../../machines/errors.ts';
import type { CommandTarget, SessionTarget } from '../../machines/schedule/schedule-definition.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { checkedScheduleName, withSchedules } from './schedules.ts';
import { withSessions } from '../open/stores.ts';
import { runTask } from '../task/run.ts';

/** A command exits as it does; a message that is stored is a success. */
export async function runSchedule(context: CommandContext, id: string): Promise<number> {
  const name = checkedScheduleName(id);
  const { definition } = await withSchedules(context, (registry) => registry.get(name));
  const { target } = definition;
  return target.kind === 'command' ? runOnce(context, target) : sendOnce(context, name, target);
}

async function runOnce(context: CommandContext, { command, cwd, timeoutMs, env = [] }: CommandTarget): Promise<number> {
  const missing = env.filter((variable) => process.env[variable] === undefined);
  if (missing.length > 0) {
    throw new RuntimeError(
      'SCHEDULE_ENVIRONMENT',
      `expected the variables ${env.join(', ')}; there is no ${missing.join(', ')} here`,
      { category: 'validation', hint: 'Set it, here and for the worker.' },
    );
  }
  return runTask(context, { words: [command], cwd, timeoutMs, idleTimeoutMs: undefined, inspection: {} });
}

async function sendOnce(
  context: CommandContext,
  name: string,
  { sessionId, text, delivery }: SessionTarget,
): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async ({ sessions }) => {
    const options = {
      idempotencyKey: `schedule:${name}:try:${randomUUID()}`,
      ...(delivery === undefined || delivery === 'queue' ? {} : { delivery }),
    };
    const receipt = await sessions.send(sessionId, { type: 'user.message', text }, options);
    if (json) return out.document(receipt);
    await out.line(`${out.styles.green('Sent')} as event ${receipt.seq} of session ${sessionId}`);
    await out.line(`Next: ${nextCommand(context, 'wake', '--session', sessionId)}`);
  });
  return EXIT_SUCCESS;
}
