import { describe, expect, it } from 'vitest';
import { checkedFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { agentWarnings } from '../../../src/machines/agent/agent-warnings.ts';
import { frontmatterIssues } from '../../../src/machines/agent/frontmatter-issues.ts';
import { pathOf } from '../../../src/machines/validate.ts';

const BASE = { name: 'Reviewer', provider: 'script', model: 'play.json' };
const docs = { command: 'docs-server' };

function issuesOf(more: object): string[] {
  const parsed = checkedFrontmatter.safeParse({ ...BASE, ...more });
  return parsed.success
    ? []
    : frontmatterIssues(parsed.error, checkedFrontmatter).map(({ path, message }) => `${pathOf(path)}: ${message}`);
}

describe('a frontmatter is refused with the place of what is wrong', () => {
  it.each<[string, object, RegExp]>([
    [
      'a rule that is none',
      { permission: { deny: ['shell_run(rm)', 'what is this?'] } },
      /^permission\.deny\[1\]: rule "deny what is this\?" is not valid: expected allow, ask or deny/,
    ],
    [
      'a rule that would allow everything',
      { permission: { allow: ['shell_run(sudo)'] } },
      /^permission\.allow\[0\]: rule "allow shell_run\(sudo\)" is not valid/,
    ],
    ['a mode that is none', { permission: { mode: 'maybe' } }, /^permission\.mode: expected one of/],
    ['a permission that is none', { permission: 'maybe' }, /^permission: expected one of/],
    ['a misspelt key', { enviroment: 'builds' }, /^enviroment: unknown key; did you mean "environment"\?$/],
    [
      'a misspelt key of the permission',
      { permission: { alow: [] } },
      /^permission\.alow: unknown key; did you mean "allow"\?$/,
    ],
    [
      'a misspelt bound',
      { budget: { maxTokenPerWake: 5 } },
      /^budget\.maxTokenPerWake: unknown key; did you mean "maxTokensPerWake"\?$/,
    ],
    [
      'a misspelt key of a tool',
      { tools: ['read', { agent: 'fixer', desciption: 'Mends.' }] },
      /^tools\[1\]\.desciption: unknown key; did you mean "description"\?$/,
    ],
    [
      'a misspelt key of a server',
      { mcp: { docs: { ...docs, timeoutMS: 5 } } },
      /^mcp\.docs\.timeoutMS: unknown key; did you mean "timeoutMs"\?$/,
    ],
    [
      'a key that is like no other',
      { context: { colour: 'red' } },
      /^context\.colour: unknown key; expected one of maxTokens, whenFull$/,
    ],
    [
      'a key that is like no other, of what has several forms',
      { tools: [{ agent: 'fixer', colour: 'red' }] },
      /^tools\[0\]\.colour: unknown key$/,
    ],
    [
      'a server that is not named',
      { tools: ['read', { mcp: 'docs' }] },
      /^tools\[1\]\.mcp: expected a server that "mcp" names, received "docs"$/,
    ],
    [
      'a server without a program',
      { mcp: { docs: { command: 5 } }, tools: [{ mcp: 'docs' }] },
      /^mcp\.docs\.command: expected string, received number$/,
    ],
    [
      'a server whose address is none',
      { mcp: { docs: { url: 'ftp://x' } }, tools: [{ mcp: 'docs' }] },
      /^mcp\.docs\.url: expected an http or https URL$/,
    ],
    ['a server with a bad name', { mcp: { 'My Docs': docs } }, /^mcp\.My Docs: expected a name of lower-case letters/],
    [
      'a variable that is neither text nor reference',
      { mcp: { docs: { ...docs, env: { A: 5 } } }, tools: [{ mcp: 'docs' }] },
      /^mcp\.docs\.env\.A: expected string, received number$/,
    ],
    ['a tool that is no name', { tools: ['no name'] }, /^tools\[0\]: expected a name of letters/],
    [
      'a custom tool without a description',
      { tools: [{ custom: 'deploy' }] },
      /^tools\[0\]\.description: expected string, received undefined$/,
    ],
    [
      'a custom tool whose input is no schema',
      {
        tools: [
          { custom: 'deploy', description: 'd', input: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } },
        ],
      },
      /^tools\[0\]\.input: expected a JSON Schema that can be checked/,
    ],
    [
      'an agent that no tool could be called after',
      { tools: [{ agent: '007' }] },
      /^tools\[0\]\.name: expected a name for the tool/,
    ],
    ['a tool twice', { tools: ['read', 'read'] }, /^tools\[1\]: expected each tool once, "read" is named twice$/],
    [
      'an agent that takes the name of a tool',
      { tools: ['read', { agent: 'reader', name: 'read' }] },
      /^tools\[1\]: expected each tool once, "read" is named twice$/,
    ],
    [
      'a custom tool that takes the name of one of a server',
      {
        mcp: { docs },
        tools: [
          { mcp: 'docs', tools: ['search'] },
          { custom: 'docs__search', description: 'd' },
        ],
      },
      /^tools\[1\]: expected each tool once, "docs__search" is named twice$/,
    ],
    [
      'a custom tool that takes the name of one for resources',
      {
        mcp: { docs },
        tools: [
          { mcp: 'docs', tools: ['search'], resources: true },
          { custom: 'docs__read_resource', description: 'd' },
        ],
      },
      /^tools\[1\]: expected each tool once, "docs__read_resource" is named twice$/,
    ],
    [
      'one tool of a server whose tools are all there',
      { mcp: { docs }, tools: [{ mcp: 'docs' }, { mcp: 'docs', tools: ['search'] }] },
      /^tools\[1\]: expected each tool once, "docs__search" is one of "docs__\*" already$/,
    ],
  ])('%s', (_, more, expected) => {
    const issues = issuesOf(more);
    expect(issues.filter((issue) => expected.test(issue))).toHaveLength(1);
  });

  it('and is accepted with everything in it that there is', () => {
    expect(
      issuesOf({
        tools: [
          'read',
          { agent: 'helper' },
          { mcp: 'docs', tools: ['search'], resources: true },
          {
            custom: 'deploy',
            description: 'Deploys.',
            input: { type: 'object', properties: { to: { type: 'string' } } },
          },
        ],
        mcp: { docs: { ...docs, env: { TOKEN: { env: 'DOCS_TOKEN' } } } },
        permission: {
          mode: 'ask',
          allow: ['shell_run(npm test)', 'edit(src/**)'],
          ask: ['docs__search'],
          deny: ['write(config/**)'],
          expiresAfterSeconds: 60,
        },
        context: { maxTokens: 5_000, whenFull: 'summarize' },
        budget: { maxCostPerSession: 1 },
      }),
    ).toEqual([]);
  });
});

describe('what is probably not meant is told', () => {
  const warned = (more: object): string[] =>
    agentWarnings(checkedFrontmatter.parse({ ...BASE, ...more }), { builtinTools: ['read', 'shell_run'] }).map(
      ({ path, message }) => `${pathOf(path)}: ${message}`,
    );

  it.each<[string, object, RegExp]>([
    ['a tool that comes with nothing', { tools: ['raed'] }, /^tools\[0\]: no tool "raed" comes with Wakechart/],
    [
      'a secret by its name',
      { mcp: { docs: { ...docs, env: { API_KEY: 'abc' } } }, tools: [{ mcp: 'docs' }] },
      /^mcp\.docs\.env\.API_KEY: this looks like a secret/,
    ],
    [
      'a secret by what it looks like',
      { mcp: { docs: { url: 'https://x.example', headers: { 'X-Id': 'Bearer abc' } } }, tools: [{ mcp: 'docs' }] },
      /^mcp\.docs\.headers\.X-Id: this looks like a secret/,
    ],
    ['a server that nothing takes tools of', { mcp: { docs } }, /^mcp\.docs: no entry of "tools" takes tools of it/],
  ])('%s', (_, more, expected) => {
    expect(warned(more)).toEqual([expect.stringMatching(expected)]);
  });

  it('and nothing else is', () => {
    expect(
      warned({
        tools: ['read', { mcp: 'docs' }],
        mcp: { docs: { ...docs, env: { API_KEY: { env: 'KEY' }, LANG: 'C', TOKEN: '' } } },
      }),
    ).toEqual([]);
  });
});
