/** Two agents, a tool and a backend in code: every process that works in the home loads this module. */
import { createAgentRuntime, defineAgent, defineTool } from 'wakechart';
import { defineConfig } from 'wakechart/node';
import { z } from 'zod';

/** Stands for a model, so that this works without one: it calls the tool that it has, and says what came of it. */
const parrot = createAgentRuntime({
  id: 'parrot',
  answer: async ({ messages = [], tools = [] }, voice) => {
    const last = messages.at(-1);
    const [tool] = tools;
    if (last?.role === 'tool') voice.say(`${tool?.name} gave ${JSON.stringify(last.content[0]?.output)}`);
    else if (tool?.name === 'stock') voice.call({ callId: 'call_1', name: 'stock', input: { article: 'tea' } });
    else voice.call({ callId: 'call_1', name: 'clerk', input: { message: 'How much tea is there?' } });
    return { meta: { modelSteps: 1 } };
  },
});

const stock = defineTool({
  name: 'stock',
  description: 'How much of an article is in stock.',
  input: z.object({ article: z.string() }),
  readOnly: true,
  run: ({ article }) => ({ article, kilos: 12, countedBy: process.pid }),
});

const clerk = defineAgent({
  id: 'clerk',
  version: '1.0.0',
  model: 'parrot/any',
  instructions: 'You know what is in stock.',
  tools: [stock],
});

const desk = defineAgent({
  id: 'desk',
  model: 'parrot/any',
  instructions: 'You answer customers.',
  tools: [{ agent: 'clerk', run: 'process' }],
});

export default defineConfig({ agents: [clerk, desk], backends: [parrot] });
