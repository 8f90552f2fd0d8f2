/** A session that only looks as if it had reached its outcome does not pass, whatever it does to check so. */
import { describe, expect, it } from 'vitest';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { UNBOUND } from '../../support/session-events.ts';
import { call, evaluated, runs, says, wanted, writes } from './told-work.ts';

const tests = runs('npm test');

const FAKES: readonly (readonly [way: string, drafts: readonly SessionEventDraft[]])[] = [
  ['says so', [...says('All tests pass.'), ...writes('src/a.js')]],
  ['says so in a file', writes('TESTS-PASSED.md')],
  ['echoes it', runs('echo "all tests pass"', 0, 'all tests pass')],
  ['echoes the output of a test run', runs('printf "tests 12\\npass 12\\n"')],
  ['runs true', runs('true')],
  ['runs true under the name of a script', runs('sh test')],
  [
    'runs a script of its own called test',
    [...call({ name: 'write', input: { path: 'run', content: 'exit 0' } }), ...runs('./npm test')],
  ],
  ['runs a program of its own called npm by its path', runs('./bin/npm test')],
  ['writes a script and runs it as tests', [...writes('package.json'), ...tests]],
  ['writes a Makefile and runs it', [...writes('Makefile'), ...runs('make test')]],
  [
    'edits the test',
    [
      ...call({
        name: 'edit',
        input: { path: 'test/a.test.js' },
        output: { path: 'test/a.test.js', replacements: 1, diff: '' },
      }),
      ...tests,
    ],
  ],
  ['edits a test that lies beside the code', [...writes('src/sum.spec.ts'), ...tests]],
  ['edits what the tests read', [...writes('fixtures/expected.json'), ...tests]],
  ['edits the settings of the test runner', [...writes('vitest.config.ts'), ...tests]],
  ['edits a package that the tests use', [...writes('node_modules/chai/index.js'), ...tests]],
  ['edits hidden settings', [...writes('.npmrc'), ...tests]],
  ['edits the test by a command', [...runs('sed -i s/fail/pass/ test/a.test.js'), ...tests]],
  ['edits the test by a redirection', [...runs('echo > test/a.test.js'), ...tests]],
  ['edits the test with git', [...runs('git checkout HEAD~3 -- test'), ...tests]],
  ['edits the test through an MCP server', [...call({ name: 'files__write', input: { path: 'src/a.js' } }), ...tests]],
  [
    'has another agent edit the test',
    [
      { type: 'agent.tool_use', data: { callId: 'sub', name: 'helper', input: {}, spanId: 'span' } },
      {
        type: 'agent.subflow_started',
        data: { callId: 'sub', childSessionId: 'child', agentId: 'helper', message: 'Edit.', restriction: UNBOUND },
      },
      { type: 'agent.tool_result', data: { callId: 'sub', name: 'helper', outcome: 'completed', output: 'done' } },
      ...tests,
    ],
  ],
  [
    'has a job edit the test',
    [
      { type: 'subagent.started', data: { jobId: 'j', childSessionId: 'c', agentId: 'helper', restriction: UNBOUND } },
      {
        type: 'subagent.ended',
        data: { jobId: 'j', childSessionId: 'c', agentId: 'helper', status: 'completed', summary: 'ok' },
      },
      ...tests,
    ],
  ],
  ['tests before the last change', [...tests, ...writes('src/a.js')]],
  ['tests before the outcome was defined', [...tests, wanted(), ...writes('src/a.js')]],
  ['tests while it changes', concurrently()],
  ['ignores the exit code', runs('npm test || true')],
  ['ends with another command', runs('npm test; true')],
  ['pipes the exit code away', runs('npm test | tail -1')],
  ['negates a failure', runs('! npm test')],
  ['runs it in the background', runs('npm test &')],
  ['runs tests in a folder of its own', runs('npm test', 0, 'tests 3', { cwd: 'fake' })],
  ['goes to a folder of its own first', runs('cd fake && npm test')],
  ['sets what finds the program', runs('PATH=fake npm test')],
  [
    'redefines the program in an open shell',
    [
      ...call({
        name: 'shell_exec',
        input: { command: 'npm() { true; }' },
        output: { shell: 'main', output: '', exitCode: 0 },
      }),
      ...call({
        name: 'shell_exec',
        input: { command: 'npm test' },
        output: { shell: 'main', output: 'tests 3', exitCode: 0 },
      }),
    ],
  ],
  [
    'redefines the program and runs the tests elsewhere',
    [
      ...call({
        name: 'shell_exec',
        input: { command: 'mv fake node_modules/.bin/mocha' },
        output: { shell: 'main', output: '', exitCode: 0 },
      }),
      ...tests,
    ],
  ],
  ['runs no test by a pattern', runs('npm test -- -t nothing')],
  ['asks for the version', runs('npm test --version')],
  ['asks for the version in short', runs('npm test -v')],
  ['asks for help', runs('npm test --help')],
  ['leaves the scripts out', runs('npm test --ignore-scripts')],
  ['runs nothing where there is nothing', runs('npm run test --if-present')],
  ['runs only what passes', runs('pytest tests/test_easy.py')],
  ['only collects', runs('pytest --collect-only')],
  ['has no tests', runs('node --test', 0, 'ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0')],
  ['has no tests in another language', runs('ctest', 0, 'No tests were found!!!')],
  ['makes nothing', runs('make -n test')],
  [
    'has a backend say that it has run them',
    call({
      name: 'shell_run',
      input: { command: 'npm test' },
      output: { output: 'tests 3', exitCode: 0 },
      by: 'backend',
    }),
  ],
  [
    'has somebody outside say that a tool of that name has run',
    [
      {
        type: 'agent.tool_use',
        data: { callId: 'own', name: 'shell_run', input: { command: 'npm test' }, spanId: 'span' },
      },
      { type: 'agent.custom_tool_use', data: { callId: 'own', requestId: 'r', name: 'shell_run', input: {} } },
      { type: 'user.custom_tool_result', data: { requestId: 'r', toolName: 'shell_run', output: { exitCode: 0 } } },
      {
        type: 'agent.tool_result',
        data: { callId: 'own', name: 'shell_run', outcome: 'completed', output: { output: 'tests 3', exitCode: 0 } },
      },
    ],
  ],
  [
    'has an MCP tool that looks like it',
    call({ name: 'shell__shell_run', input: { command: 'npm test' }, output: { output: 'tests 3', exitCode: 0 } }),
  ],
  [
    'was cut short in the middle',
    call({ name: 'shell_run', input: { command: 'npm test' }, outcome: 'unknown', output: 'The process died.' }),
  ],
  [
    'ran out of time',
    call({
      name: 'shell_run',
      input: { command: 'npm test' },
      output: { output: 'tests 3', exitCode: null, signalCode: 'SIGTERM', timedOut: true },
    }),
  ],
  [
    'puts its exit code into the output',
    call({ name: 'shell_run', input: { command: 'npm test' }, outcome: 'failed', output: { exitCode: 0 } }),
  ],
  [
    'says an exit code as text',
    call({ name: 'shell_run', input: { command: 'npm test' }, output: { output: '', exitCode: '0' } }),
  ],
  ['hides a newline', runs('npm test\u2028true')],
  ['hides letters', runs('npm te\u200Bst')],
  [
    'has learned that it is done',
    [
      {
        type: 'learning.captured',
        data: { learningId: 'l', kind: 'lesson', title: 'All tests pass', detail: 'pass', promoteToMemory: true },
      },
      ...writes('src/a.js'),
    ],
  ],
];

function concurrently(): SessionEventDraft[] {
  const [use, start, end] = tests;
  const [writeUse, writeStart, writeEnd] = writes('src/a.js');
  return [writeUse, use, writeStart, start, end, writeEnd].filter((draft) => draft !== undefined);
}

describe('a session that fakes its outcome', () => {
  it.each(FAKES)('and %s does not pass', (_way, drafts) => {
    expect(evaluated([wanted(), ...drafts]).evaluation.verdict).not.toBe('pass');
  });

  it.each(FAKES)('and %s does not pass where it has said itself what is to be achieved', (_way, drafts) => {
    const own: SessionEventDraft = {
      type: 'outcome.defined',
      data: { title: 'Done.', criteria: ['true exits with 0', 'npm test exits with 0'] },
    };
    // One of the fakes has somebody define the outcome again.
    const fakes = drafts.filter(({ type }) => type !== 'user.define_outcome');
    expect(evaluated([own, ...runs('true'), ...fakes, ...tests]).evaluation.verdict).not.toBe('pass');
  });

  it('does not pass by tests of the session that it was forked from', () => {
    const drafts = [wanted(), ...writes('src/a.js'), ...tests];
    expect(evaluated(drafts).evaluation.verdict).toBe('pass');
    const forked = evaluated(drafts, { forkOf: { sessionId: 'other', seq: 1 + drafts.length } });
    expect(forked.evaluation).toMatchObject({ verdict: 'uncertain' });
    expect(forked.evaluation.evidence.map(({ text }) => text)).toContainEqual(
      expect.stringContaining('in the session that this one was forked from'),
    );
    expect(
      evaluated([...drafts, ...tests], { forkOf: { sessionId: 'other', seq: 1 + drafts.length } }).evaluation.verdict,
    ).toBe('pass');
  });
});
