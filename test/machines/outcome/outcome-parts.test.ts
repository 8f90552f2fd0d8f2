/**
 * The parts that an evaluation is made of: grades, trends, criteria, commands that test, files that tests depend on,
 * and tools that change what is judged.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { mayChangeWork } from '../../../src/machines/outcome/changes-work.ts';
import { readJudgement } from '../../../src/machines/outcome/judge-words.ts';
import { criterionOf } from '../../../src/machines/outcome/outcome-criterion.ts';
import { gradeOf } from '../../../src/machines/outcome/outcome-grade.ts';
import { trendOf } from '../../../src/machines/outcome/outcome-trend.ts';
import { weigh } from '../../../src/machines/outcome/outcome-verdict.ts';
import { saysNothingTested, testCommandOf } from '../../../src/machines/outcome/test-command.ts';
import { isTestMaterial } from '../../../src/machines/outcome/work-shown.ts';
import { MAX_RECORDED_CALLS, WorkRecorder } from '../../../src/machines/outcome/work-record.ts';
import { outcomeVerdict } from '../../../src/machines/session/improvement-events.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import { eventAt } from '../../support/session-events.ts';
import { call, evaluated, runs, says, wanted, writes } from './told-work.ts';

const { state: rested, record } = evaluated([wanted(), ...writes('src/a.js')]);

describe('a grade', () => {
  it.each<[string, Partial<SessionState>, string]>([
    ['has no outcome', { outcome: undefined, parked: { code: 'failures', reason: 'x', seq: 1 } }, 'missing_outcome'],
    ['was terminated', { status: 'terminated' }, 'blocked'],
    ['is parked', { parked: { code: 'failures', reason: 'x', seq: 1 } }, 'blocked'],
    [
      'waits for somebody',
      { pendingActions: [{ requestId: 'r', eventId: 'e', kind: 'permission', toolName: 'shell_run' }] },
      'blocked',
    ],
    ['has failed', { failuresInARow: 2 }, 'blocked'],
    ['runs', { status: 'running' }, 'in_progress'],
    ['goes on by itself', { status: 'rescheduling' }, 'in_progress'],
    [
      'has something unread',
      { pending: [{ eventId: 'e', seq: 1, at: '2026-01-01T00:00:00.000Z', type: 'user.message', delivery: 'queue' }] },
      'in_progress',
    ],
    ['left a turn before its end', { unansweredResults: 1 }, 'in_progress'],
    ['has a job', { jobs: [{ jobId: 'j', childSessionId: 'c', agentId: 'a' }] }, 'in_progress'],
    [
      'has a plan',
      {
        queuedWakes: [
          {
            queuedWakeId: 'q',
            reason: 'check again',
            dueAt: '2026-01-01T00:00:00.000Z',
            priority: 'normal',
            eventId: 'e',
          },
        ],
      },
      'sleeping',
    ],
    ['rests', {}, 'done_candidate'],
  ])('of a session that %s', (_how, change, grade) => {
    expect(gradeOf({ state: { ...rested, ...change }, record })).toMatchObject({ grade });
  });

  it('asks for work besides the evaluations themselves', () => {
    const { state, record: own } = evaluated([wanted(), ...call({ name: 'outcome_evaluate' })]);
    expect(gradeOf({ state, record: own }).grade).toBe('in_progress');
  });
});

describe('a trend', () => {
  it.each([
    [[], 'same'],
    [['fail'], 'same'],
    [['fail', 'uncertain', 'pass'], 'better'],
    [['pass', 'pass', 'fail'], 'worse'],
    [['fail', 'pass', 'pass', 'pass'], 'better'],
    [['fail', 'pass', 'fail', 'pass'], 'flapping'],
    [['fail', 'pass', 'fail', 'pass', 'pass', 'pass', 'pass', 'pass', 'pass', 'pass'], 'same'],
  ] as const)('of %j is %s', (verdicts, trend) => {
    expect(trendOf(verdicts)).toBe(trend);
  });

  it('is told of any verdicts', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...outcomeVerdict.options)), (verdicts) =>
        ['better', 'worse', 'same', 'flapping'].includes(trendOf(verdicts)),
      ),
    );
  });
});

describe('a criterion', () => {
  it.each([
    ['npm test exits with 0', { kind: 'exit_code', argv: ['npm', 'test'], exitCode: 0 }],
    ["grep 'a b' file exits with 1", { kind: 'exit_code', argv: ['grep', 'a b', 'file'], exitCode: 1 }],
    ['npm test exits with zero', { kind: 'words' }],
    ['npm test exits with 256', { kind: 'words' }],
    ['npm test exits with 0.', { kind: 'words' }],
    ['npm test || true exits with 0', { kind: 'words' }],
    ['$(npm test) exits with 0', { kind: 'words' }],
    ['exits with 0', { kind: 'words' }],
    ['The tests pass.', { kind: 'words' }],
  ])('that says %j', (text, criterion) => {
    expect(criterionOf(text, readShell)).toMatchObject(criterion);
  });
});

describe('a command that tests', () => {
  it.each([
    ['npm test', { suite: 'npm test', isWhole: true, onlyTests: true }],
    ['npm run test --silent', { suite: 'npm run test', isWhole: true, onlyTests: true }],
    ['npm test -- one', { suite: 'npm test', isWhole: false, onlyTests: true }],
    ['npm test -- -u', { isWhole: false, onlyTests: false }],
    ['go test ./...', { suite: 'go test ./...', isWhole: true }],
    ['go test ./one', { suite: 'go test', isWhole: false, onlyTests: false }],
    ['make test install', { isWhole: false, onlyTests: false }],
  ])('such as %s', (line, expected) => {
    expect(testCommandOf(line.split(' '))).toMatchObject(expected);
  });

  it.each(['npm install', 'npm', 'test -f x', './npm test', '/tmp/npm test', 'node test.js', 'echo npm test', 'true'])(
    'is not %s',
    (line) => {
      expect(testCommandOf(line.split(' '))).toBeUndefined();
    },
  );

  it.each([
    ['ℹ tests 0\nℹ pass 0\nℹ fail 0', true],
    ['No tests were found!!!', true],
    ['0 passing (2ms)', true],
    ['Ran 0 tests in 0.000s\n\nOK', true],
    ['?   pkg [no test files]', true],
    ['?   a [no test files]\nok  b 0.01s', false],
    ['running 3 tests\ntest result: ok. 3 passed; 0 failed\nrunning 0 tests\n0 passed', false],
    ['ℹ tests 12\nℹ fail 0', false],
    ['12 passing\n0 failing', false],
    ['', false],
  ])('whose output is %j says that it tested nothing: %s', (output, expected) => {
    expect(saysNothingTested(output)).toBe(expected);
  });
});

describe('a file', () => {
  it.each([
    'test/a.js',
    'src/a.test.ts',
    'src/a_test.go',
    'tests/conftest.py',
    'spec/a_spec.rb',
    'src/FooTest.java',
    'package.json',
    'Makefile',
    'jest.config.mjs',
    '.github/workflows/ci.yml',
    'node_modules/a/index.js',
    'src/__mocks__/a.js',
    'pyproject.toml',
    'Cargo.toml',
    'tsconfig.build.json',
  ])('%s decides what tests do', (path) => {
    expect(isTestMaterial(path)).toBe(true);
  });

  it.each([
    'src/a.js',
    'src/latest.js',
    'src/contest/index.ts',
    'lib/attestation.py',
    'docs/guide.md',
    'src/protest.rs',
    'main.go',
  ])('%s does not', (path) => {
    expect(isTestMaterial(path)).toBe(false);
  });
});

describe('a record of work', () => {
  it('is bounded, and says when it is not whole', () => {
    const recorder = new WorkRecorder({ sinceSeq: 0, copiedThroughSeq: 0, isWhole: true });
    for (let seq = 1; seq <= MAX_RECORDED_CALLS + 1; seq += 1)
      recorder.ingest(
        eventAt(seq, { type: 'agent.tool_use', data: { callId: `c${seq}`, name: 'read', input: {}, spanId: 's' } }),
      );
    expect([recorder.record().calls.size, recorder.record().isWhole]).toEqual([MAX_RECORDED_CALLS, false]);
  });

  it('that is not whole passes nothing by itself', () => {
    const told = evaluated([wanted(), ...writes('src/a.js'), ...runs('npm test')]);
    const judged = { grade: { grade: 'done_candidate', because: '' }, checks: [], readCommand: readShell } as const;
    const { outcome } = told.state;
    if (outcome === undefined) throw new Error('there is an outcome');
    expect([
      weigh({ ...judged, outcome, record: told.record }).verdict,
      weigh({ ...judged, outcome, record: { ...told.record, isWhole: false } }).verdict,
    ]).toEqual(['pass', 'uncertain']);
  });

  it('never passes without a test run that ended with 0, whatever else is in the log', () => {
    const step: fc.Arbitrary<readonly SessionEventDraft[]> = fc.oneof(
      fc
        .tuple(
          fc.constantFrom('echo ok', 'true', 'make', 'npm test -- -t x', 'npm test | cat', 'git status', 'ls'),
          fc.integer({ min: 0, max: 2 }),
        )
        .map(([command, code]) => runs(command, code)),
      fc.constantFrom('src/a.js', 'package.json', 'test/a.js').map((path) => writes(path)),
      fc.string({ minLength: 1 }).map((text) => says(text)),
      fc.integer({ min: 1, max: 255 }).map((code) => runs('npm test', code)),
      fc
        .json()
        .map((json) =>
          call({ name: 'shell_run', input: { command: 'npm test' }, output: JSON.parse(json) as unknown }),
        ),
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 12 }),
        (steps) => evaluated([wanted(), ...steps.flat()]).evaluation.verdict !== 'pass',
      ),
      { numRuns: 300 },
    );
  });
});

describe('a tool', () => {
  it.each([
    [{ readOnly: true, effects: ['writes_files'] }, false],
    [{ readOnly: false }, true],
    [{ readOnly: false, effects: [] }, true],
    [{ readOnly: false, effects: ['writes_session', 'promotes', 'reads_files'] }, false],
    [{ readOnly: false, effects: ['promotes', 'writes_files'] }, true],
    [{ readOnly: false, effects: ['delegates'] }, true],
  ] as const)('that is %j may change what is judged: %s', (definition, expected) => {
    expect(mayChangeWork(definition)).toBe(expected);
  });
});

describe('the answer of a judge', () => {
  it('is understood or uncertain, whatever it is', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => readJudgement(text).verdict === 'uncertain'));
    expect(readJudgement(' {"verdict":"pass","because":"x"}\n')).toEqual({ verdict: 'pass', because: 'x' });
  });
});
