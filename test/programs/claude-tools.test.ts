/** The tools of Claude Code: what our log says of each call, its permission and its result. */
import { expect, it } from 'vitest';
import { callsOf } from './story.ts';
import { says, use, uses } from '../support/http-models/conversation.ts';
import { openClaude } from './claude-stage.ts';
import { describeProgram } from './programs.ts';
import type { Stage } from './stage.ts';

const NOTEBOOK = JSON.stringify({
  cells: [{ id: 'a', cell_type: 'code', source: 'print(1)', metadata: {}, outputs: [], execution_count: null }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

type Call = readonly [name: string, input: Readonly<Record<string, unknown>>];

/** One turn in which these tools are called one after another. Permissions that are asked for are given. */
async function turn(stage: Stage, calls: readonly Call[]): Promise<string[]> {
  await stage.put('notes.txt', 'one\n');
  await stage.put('book.ipynb', NOTEBOOK);
  stage.conversation().script(...calls.map(([name, input]) => use(name, input)), says('Done.'));
  const id = await stage.session('Go.');
  await stage.wakeAllowing(id);
  return callsOf(await stage.log(id));
}

const UNASKED = ['started', 'completed'];
const ALLOWED = ['asked', 'resolved allowed', 'started, allowed by person', 'completed'];
const at = (stage: Stage, name: string): string => `${stage.workspace}/${name}`;

describeProgram('claude', () => {
  it('reads files of the workspace unasked, and others when they are allowed', async () => {
    await using stage = await openClaude();
    expect(
      await turn(stage, [
        ['Read', { file_path: at(stage, 'notes.txt') }],
        ['Read', { file_path: '/etc/hostname' }],
      ]),
    ).toEqual(['use Read by backend', ...UNASKED, 'use Read by backend', ...ALLOWED]);
    expect(stage.conversation().results(1)[0]?.text).toContain('one');
  });

  it('runs commands that only read unasked, and others when they are allowed', async () => {
    await using stage = await openClaude();
    expect(
      await turn(stage, [
        ['Bash', { command: 'ls', description: 'lists' }],
        ['Bash', { command: 'echo made > made.txt', description: 'makes' }],
      ]),
    ).toEqual(['use Bash by backend', ...UNASKED, 'use Bash by backend', ...ALLOWED]);
    expect(await stage.file('made.txt')).toBe('made\n');
  });

  it('writes and edits files and notebooks when that is allowed', async () => {
    await using stage = await openClaude();
    expect(
      await turn(stage, [
        ['Write', { file_path: at(stage, 'new.txt'), content: 'new\n' }],
        ['Read', { file_path: at(stage, 'notes.txt') }],
        ['Edit', { file_path: at(stage, 'notes.txt'), old_string: 'one', new_string: 'two' }],
        ['Read', { file_path: at(stage, 'book.ipynb') }],
        ['NotebookEdit', { notebook_path: at(stage, 'book.ipynb'), cell_id: 'a', new_source: 'print(2)' }],
      ]),
    ).toEqual([
      'use Write by backend',
      ...ALLOWED,
      'use Read by backend',
      ...UNASKED,
      'use Edit by backend',
      ...ALLOWED,
      'use Read by backend',
      ...UNASKED,
      'use NotebookEdit by backend',
      ...ALLOWED,
    ]);
    expect([await stage.file('new.txt'), await stage.file('notes.txt')]).toEqual(['new\n', 'two\n']);
    expect(await stage.file('book.ipynb')).toContain('print(2)');
  });

  it('searches with tools that its options give it', async () => {
    await using stage = await openClaude({ options: { tools: 'Read,Glob,Grep' } });
    expect(
      await turn(stage, [
        ['Glob', { pattern: '*.txt' }],
        ['Grep', { pattern: 'one' }],
      ]),
    ).toEqual(['use Glob by backend', ...UNASKED, 'use Grep by backend', ...UNASKED]);
    expect(stage.conversation().results(1)[0]?.text).toContain('notes.txt');
    expect(stage.conversation().results(2)[0]?.text).toContain('notes.txt');
  });

  it('plans with tools that its environment gives it', async () => {
    await using stage = await openClaude({ set: { CLAUDE_CODE_ENABLE_TODO_TOOLS: '1' } });
    expect(await turn(stage, [['TaskCreate', { subject: 'Do it', description: 'all of it' }]])).toEqual([
      'use TaskCreate by backend',
      ...UNASKED,
    ]);
  });

  it('is denied the web, with the words of the person', async () => {
    await using stage = await openClaude();
    stage
      .conversation()
      .script(use('WebFetch', { url: 'https://example.com/', prompt: 'What is it?' }), says('So not.'));
    const id = await stage.session('Go.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: false, note: 'Not on the web.' });
    await waking;
    expect(callsOf(await stage.log(id))).toEqual(['use WebFetch by backend', 'asked', 'resolved denied', 'denied']);
    expect(stage.conversation().results()[0]?.text).toContain('Not on the web.');
  });

  it('asks no person a question, plans when it is allowed to end that, and finds tools that were left out', async () => {
    await using stage = await openClaude();
    expect(
      await turn(stage, [
        ['AskUserQuestion', { questions: [QUESTION] }],
        ['EnterPlanMode', {}],
        ['ExitPlanMode', { plan: 'We do it.' }],
        ['ToolSearch', { query: 'select:NotebookEdit' }],
        ['ListAgents', {}],
        ['ReportFindings', { findings: [] }],
      ]),
    ).toEqual([
      'use AskUserQuestion by backend',
      'denied',
      'use EnterPlanMode by backend',
      ...UNASKED,
      'use ExitPlanMode by backend',
      ...ALLOWED,
      'use ToolSearch by backend',
      ...UNASKED,
      'use ListAgents by backend',
      ...UNASKED,
      'use ReportFindings by backend',
      ...UNASKED,
    ]);
  });

  it('describes to its model at first only what docs/backends.md says', async () => {
    await using stage = await openClaude();
    stage.conversation().script(says('Ready.'));
    await stage.wake(await stage.session('Be ready.'));
    const tools = stage.conversation().requests[0]?.body['tools'] as readonly { readonly name: string }[] | undefined;
    const names = (tools ?? []).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Bash', 'Edit', 'Read', 'ToolSearch', 'Write']));
    const found = ['Glob', 'Grep', 'NotebookEdit', 'TaskCreate', 'TodoWrite', 'WebFetch', 'WebSearch'];
    expect(names.filter((name) => found.includes(name))).toEqual([]);
  });

  it('can leave nothing for after its turn', async () => {
    await using stage = await openClaude({ options: { disallowedTools: 'WebSearch' } });
    const calls = await turn(stage, [
      ['ScheduleWakeup', { delaySeconds: 60, reason: 'to see', prompt: 'go on' }],
      ['Bash', { command: 'echo later > later.txt', description: 'later', run_in_background: true }],
      // What its own options take from it is gone as well.
      ['WebSearch', { query: 'what is it' }],
      ['CronCreate', { cron: '0 9 * * *', prompt: 'go on', recurring: true }],
      ['Monitor', { command: 'echo tick', description: 'ticks', timeout_ms: 1_000, persistent: false }],
    ]);
    expect(calls.filter((line) => line === 'failed')).toHaveLength(5);
  });

  it('has subagents, whose calls are in the log with its own', async () => {
    await using stage = await openClaude();
    const isInner = ({ text }: { readonly text: string }): boolean => text.includes('Make it, inner one.');
    const inner = stage.conversation();
    inner.script(
      use('Agent', { description: 'makes it', prompt: 'Make it, inner one.', subagent_type: 'general-purpose' }),
      {
        when: (request) => isInner(request) && !request.text.includes('"tool_result"'),
        answer: use('Bash', { command: 'echo inner > inner.txt', description: 'makes' }),
      },
      { when: (request) => request.text.includes('tool_result'), answer: says('Inner made it.') },
      says('It is made.'),
    );
    const id = await stage.session('Go.');
    await stage.wakeAllowing(id);
    expect(callsOf(await stage.log(id))).toEqual([
      'use Agent by backend',
      'started',
      'use Bash by backend',
      ...ALLOWED,
      'completed',
    ]);
    expect(await stage.file('inner.txt')).toBe('inner\n');
  });

  it('calls several tools at once, each with a permission of its own', async () => {
    await using stage = await openClaude();
    stage.conversation().script(
      uses([
        ['Write', { file_path: at(stage, 'a.txt'), content: 'a' }],
        ['Write', { file_path: at(stage, 'b.txt'), content: 'b' }],
      ]),
      says('Done.'),
    );
    const id = await stage.session('Go.');
    const waking = stage.wake(id);
    const first = await stage.confirm(id, { allowed: true });
    await expect.poll(async () => (await stage.asked(id)).requestId).not.toBe(first.requestId);
    await stage.confirm(id, { allowed: false });
    await waking;
    expect(callsOf(await stage.log(id)).filter((line) => /completed|denied/.test(line))).toEqual([
      'completed',
      'resolved denied',
      'denied',
    ]);
  });
});

const QUESTION = {
  question: 'Which?',
  header: 'Which',
  multiSelect: false,
  options: [
    { label: 'A', description: 'a' },
    { label: 'B', description: 'b' },
  ],
};
