import { createNodeRuntime } from '../../../src/node.ts';
import { describeDurableSchedules } from '../../contracts/durable-schedules.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

describeDurableSchedules('one home', async () => {
  const home = await temporaryHome();
  const runtime = await createNodeRuntime({ home: home.path });
  await runtime.agents.create({
    agentId: 'ticked',
    source: { frontmatter: { name: 'ticked', provider: 'script', model: 'script.json' }, instructions: 'Play.' },
  });
  const { sessionId } = await runtime.sessions.create({ agentId: 'ticked' });
  const dispose = async (): Promise<void> => {
    await runtime.shutdown();
    await home.remove();
  };
  return { runtime, sessionId, homes: [home.path], dispose };
});
