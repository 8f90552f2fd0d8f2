// @ts-check
/**
 * A client of MCP that starts `wakechart serve mcp`, has an agent do something, and answers as a person what is asked
 * before it is done. Needs @modelcontextprotocol/sdk.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createNodeRuntime } from 'wakechart/node';

const home = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
const client = new Client({ name: 'example', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });

try {
  // An agent that plays what a model would say, step by step.
  const runtime = await createNodeRuntime({ home });
  await runtime.agents.create({
    agentId: 'cleaner',
    source: {
      frontmatter: {
        name: 'cleaner',
        provider: 'script',
        model: 'script.json',
        permission: 'ask',
        tools: ['shell_run'],
      },
      instructions: 'Play.',
    },
  });
  const steps = [
    { text: 'I tidy up.', toolCalls: [{ name: 'shell_run', input: { command: 'rm -f old.txt' } }] },
    { text: 'Tidy.' },
  ];
  await writeFile(join(home, 'agents/cleaner/script.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
  await runtime.shutdown();

  // What is asked of a person: here it is always allowed, once.
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    console.log(params.message.split('\n', 1)[0]);
    return { action: 'accept', content: { decision: 'allow once' } };
  });
  // The program that is installed with the package.
  const program = join(dirname(createRequire(import.meta.url).resolve('wakechart/package.json')), 'dist/cli/main.js');
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, 'serve', 'mcp', '--home', home] }),
  );
  const { structuredContent } = await client.callTool(
    { name: 'session_start', arguments: { agent: 'cleaner', message: 'Please tidy up.' } },
    undefined,
    { onprogress: ({ message }) => console.log(`  ${message}`) },
  );
  const { state, answer } = /** @type {{ state: string, answer: string }} */ (structuredContent);
  console.log(`${state}: ${answer}`);
} finally {
  await client.close();
  await rm(home, { recursive: true });
}
