import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { validateAgent } from '../../src/cli/agent/agent.ts';
import { exitCodeOf, failureText } from '../../src/cli/failure.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { captured } from './captured.ts';
import { run } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { agentShape } from './shapes.ts';

let folder: TemporaryHome;
let home = '';
let created: Ended;

const agent = (...words: readonly string[]): Promise<Ended> => runInProcess(['agent', ...words, '--home', home]);
/** In a process of its own, in the folder of the agent files. */
const agentProgram = (...words: readonly string[]): Promise<Ended> =>
  run(['agent', ...words, '--home', home], { cwd: folder.path });

const reviewer = (frontmatter: string): string =>
  `---\nname: Reviewer\nprovider: script\n${frontmatter}\n---\n\nReview what changed.\n`;
const script = JSON.stringify({ format: 'wakechart-script/1', steps: [{ text: 'Looks good.' }] });

beforeAll(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'a home');
  const files = {
    'reviewer.md': reviewer('model: reviewer.json'),
    'reviewer.json': script,
    'misspelled.md': reviewer('modle: reviewer.json'),
    'bad-rule.md': reviewer(
      'model: reviewer.json\npermission:\n  mode: ask\n  deny:\n    - shell_run(rm)\n    - what is this?',
    ),
    'careless.md': reviewer(
      'model: reviewer.json\ntools:\n  - raed\n  - { mcp: docs }\nmcp:\n  docs:\n    command: docs-server\n    env:\n      API_KEY: abc',
    ),
    'elsewhere.md': reviewer('model: reviewer.json\nenvironment: buidls\nskills: [relase-notes, own]'),
    'lonely.md': reviewer('model: missing.json'),
    'wrong-script.md': reviewer('model: wrong.json'),
    'wrong.json': '{ "format": "wakechart-script/1", "steps": [{ "txt": "oops" }] }',
    'outside.md': reviewer('model: ../reviewer.json'),
  };
  await mkdir(join(folder.path, 'deep'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  await writeFile(join(folder.path, 'deep/outside.md'), files['outside.md']);
  created = await agentProgram('create', 'hello');
  await writeFile(join(folder.path, 'latin.md'), Buffer.from([0x2d, 0x2d, 0x2d, 0xe9]));
});

afterAll(() => folder.remove());

describe.concurrent('an agent', () => {
  it('is made with a script that works at once, listed and shown', async () => {
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect(created.stdout).toMatch(/Created agent hello/);
    const [list, shown, json] = await Promise.all([
      agent('list'),
      agent('show', 'hello'),
      agent('show', 'hello', '--json'),
    ]);
    expect(list.stdout).toMatch(/^AGENT\s+MODEL\s+DESCRIPTION\n[\s\S]*^hello\s+script\/script\.json/m);
    expect(shown.stdout).toContain('You are hello.');
    expect(agentShape.parse(JSON.parse(json.stdout))).toMatchObject({
      agentId: 'hello',
      provider: 'script',
      model: 'script.json',
    });
  });

  it('whose name looks like a number is made all the same', async () => {
    expect(await agent('create', '123')).toMatchObject({ code: 0, stderr: '' });
  });

  it('comes with the script that its file names', async () => {
    const { stdout } = await agentProgram('create', 'reviewer', '--from', 'reviewer.md', '--json');
    expect(agentShape.parse(JSON.parse(stdout))).toMatchObject({
      agentId: 'reviewer',
      name: 'Reviewer',
      instructions: 'Review what changed.',
    });
    expect(await readFile(join(home, 'agents/reviewer/reviewer.json'), 'utf8')).toBe(script);
  });

  it('is not made twice, and what is there stays as it is', async () => {
    await agent('create', 'twice', '--from', join(folder.path, 'reviewer.md'));
    const again = await agent('create', 'twice');
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toMatch(/there is an agent "twice" already \[AGENT_EXISTS\]\n {2}hint: /);
    expect(await readFile(join(home, 'agents/twice/agent.md'), 'utf8')).toBe(reviewer('model: reviewer.json'));
  });

  it('that cannot be read does not hide the others', async () => {
    const other = join(folder.path, 'half broken');
    await mkdir(join(other, 'agents/broken'), { recursive: true });
    await writeFile(join(other, 'agents/broken/agent.md'), 'no frontmatter');
    await runInProcess(['agent', 'create', 'whole', '--home', other]);
    const [list, json] = await Promise.all([
      runInProcess(['agent', 'list', '--home', other]),
      runInProcess(['agent', 'list', '--home', other, '--json']),
    ]);
    expect(list.stdout).toMatch(/^broken\s+invalid\s+agent file broken\/agent\.md is not valid: line 1/m);
    const shape = z.strictObject({
      agents: z.array(
        z.union([
          z.strictObject({ agentId: z.string(), definition: agentShape }),
          z.strictObject({ agentId: z.string(), error: z.object({ code: z.string() }) }),
        ]),
      ),
    });
    expect(shape.parse(JSON.parse(json.stdout)).agents.map(({ agentId }) => agentId)).toEqual(['broken', 'whole']);
  });

  it('that is not there is answered with those that are', async () => {
    const [typing, elsewhere] = await Promise.all([
      agent('show', 'helo'),
      runInProcess(['agent', 'show', 'hello', '--home', join(folder.path, 'empty')]),
    ]);
    expect(typing).toMatchObject({ code: 1, stdout: '' });
    expect(typing.stderr).toMatch(
      /there is no agent "helo" \[AGENT_NOT_FOUND\]\n {2}hint: Did you mean "hello"\? Agents in .*: .*hello/,
    );
    expect(elsewhere.stderr).toMatch(/There are no agents in .*empty yet\. Make one:\n.* agent create hello --home/);
  });
});

describe.concurrent('an agent file', () => {
  it('is checked without being kept', async () => {
    const [valid, json] = await Promise.all([
      agentProgram('validate', 'reviewer.md'),
      agent('validate', join(folder.path, 'reviewer.md'), '--json'),
    ]);
    expect(valid).toMatchObject({
      code: 0,
      stdout: 'Valid: reviewer.md defines "Reviewer" (script/reviewer.json)\n',
      stderr: '',
    });
    const shape = z.strictObject({
      valid: z.literal(true),
      file: z.string(),
      definition: agentShape.omit({ agentId: true }),
      warnings: z.array(z.never()),
    });
    expect(shape.parse(JSON.parse(json.stdout)).file).toBe(join(folder.path, 'reviewer.md'));
  });

  it('that is valid and probably not meant like this is warned about, line by line', async () => {
    const careless = join(folder.path, 'careless.md');
    const [told, json] = await Promise.all([agent('validate', careless), agent('validate', careless, '--json')]);
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining('Valid:') as string });
    expect(told.stderr).toMatch(
      /^warning: line 6: tools\[0\]: no tool "raed" comes with Wakechart.*\nwarning: line 12: mcp\.docs\.env\.API_KEY: this looks like a secret in plain text.*\n$/,
    );
    expect(
      z
        .object({ warnings: z.array(z.strictObject({ line: z.number(), message: z.string() })) })
        .parse(JSON.parse(json.stdout))
        .warnings.map(({ line }) => line),
    ).toEqual([6, 12]);
  });

  it('that names an environment or skills that are not there is warned about, when it is checked and when it is kept', async () => {
    const other = join(folder.path, 'furnished');
    const own = join(other, 'agents/elsewhere');
    for (const place of [join(other, 'skills/release-notes'), join(own, 'skills/own')]) {
      await mkdir(place, { recursive: true });
      await writeFile(join(place, 'SKILL.md'), `---\nname: ${place.split('/').at(-1)}\ndescription: x\n---\n`);
    }
    await runInProcess(['env', 'create', 'builds', '--home', other]);
    const file = join(folder.path, 'elsewhere.md');
    const environment =
      'warning: line 5: environment: there is no environment "buidls" in this home; did you mean "builds"?; none of its sessions will wake until there is\n';
    const skill =
      'warning: line 6: skills[0]: there is no skill "relase-notes" for it in this home; did you mean "release-notes"?; the agent does without it\n';
    const foreign =
      'warning: line 6: skills[1]: there is no skill "own" for it in this home; the agent does without it\n';
    expect(await runInProcess(['agent', 'validate', file, '--home', other])).toMatchObject({
      code: 0,
      stderr: environment + skill + foreign,
    });
    expect(await runInProcess(['agent', 'create', 'elsewhere', '--from', file, '--home', other])).toMatchObject({
      code: 0,
      stderr: environment + skill,
    });
    expect(await runInProcess(['agent', 'validate', join(own, 'agent.md'), '--home', other])).toMatchObject({
      code: 0,
      stderr: environment + skill,
    });
    await writeFile(join(other, 'environments/buidls.yaml'), 'sandbox: [', { mode: 0o600 });
    expect((await runInProcess(['agent', 'create', 'broken', '--from', file, '--home', other])).stderr).toMatch(
      /^warning: .*: none of its sessions will wake$/m,
    );
  });

  it.each([
    [
      'with a key that nobody knows names its line',
      'misspelled.md',
      /misspelled\.md is not valid: .*line \d+: modle: unknown key; did you mean "model"\?/,
    ],
    [
      'with a rule that is none names its line and its place',
      'bad-rule.md',
      /line 9: permission\.deny\[1\]: rule "deny what is this\?" is not valid/,
    ],
    [
      'whose script is not there says where it was searched for',
      'lonely.md',
      /could not read the script .*missing\.json/,
    ],
    ['whose script is wrong says where', 'wrong-script.md', /script .*wrong\.json is not valid: steps\[0\]/],
    [
      'whose script lies elsewhere says what to do',
      'deep/outside.md',
      /to lie beside it, received "\.\.\/reviewer\.json"[\s\S]*hint: Move the script/,
    ],
    ['that is not there', 'nowhere.md', /could not read the agent file .*nowhere\.md: ENOENT/],
    ['that is a folder', 'deep', /could not read the agent file .*deep: EISDIR/],
    ['that is not text', 'latin.md', /expected the agent file .*latin\.md to be UTF-8 text/],
    ['without an end', '/dev/zero', /expected the agent file \/dev\/zero to hold at most \d+ bytes/],
  ])('%s', async (_, file, complaint) => {
    const { context, text } = captured(home);
    const failure = await validateAgent(context, resolve(folder.path, file)).catch((error: unknown) => error);
    expect(text()).toBe('');
    expect(exitCodeOf(failure)).toBe(1);
    expect(failureText(failure, context.err)).toMatch(complaint);
    expect(failureText(failure, context.err)).toMatch(/^ {2}hint: /m);
  });
});
