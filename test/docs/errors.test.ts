import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { categoriesOf, errorEntries, errorIndex, errorPage, isOfAnother } from './error-catalogue.ts';
import type { ErrorEntry } from './error-catalogue.ts';
import { SRC, errorSites, sourceFiles } from './error-sites.ts';
import { checkout } from './pages.ts';

/** They make an error of one that they were given, and its code is that one's. */
const PASSES_ON = [
  'actors/environment/environment-names.ts: bindingEnvironment',
  'actors/inspection/far-processes.ts: endFarProcess',
  'actors/session/parent-bounds.ts: asFilesSay',
  'adapters/files/lease-acquisition.ts: #conflict',
  'adapters/postgres/schedule-definitions.ts: readable',
  'adapters/schedule-files/schedule-definitions.ts: get',
  'cli/auth/accounts.ts: inOurWords',
  'cli/chat/command-work.ts: sessionTyped',
  'cli/open/store.ts: inOurWords',
  'cli/open/suggestions.ts: withHint',
  'cli/schedule/schedules.ts: inOurWords',
  'cli/task/run.ts: inOurWords',
  'cli/worktree/worktrees.ts: withWorktrees',
  'machines/subagent/session-verdict.ts: failureOf',
  'machines/task/task-error.ts: BackgroundTaskError',
];

/** Nothing has to be done, or the words of others say it. */
const WITHOUT_HINT: Readonly<Record<string, string>> = {
  LEARNINGS_NOT_REBUILT: 'doctor makes a remedy of the message, which names the command',
  SCHEDULE_STOPPED: 'it was asked to stop',
  SUBAGENT_ABORTED: 'it was asked to stop',
  SUBAGENT_CANCELLED: 'it was asked to stop',
  SUBAGENT_FOLLOW_UP_REFUSED: 'the words of the worker',
  SUBAGENT_HOOK_REFUSED: 'the words of the hook',
  SUBAGENT_HOOK_STOPPED: 'it was asked to stop',
  SUBAGENT_INTERRUPTED: 'it was asked to stop',
  SUBAGENT_SESSION_TERMINATED: 'it was asked to stop',
  SUBAGENT_STOPPED: 'it was asked to stop',
  TASK_CANCELLED: 'it was asked to stop',
  TASK_PERMISSION_DENIED: 'a person said no',
  TASK_RUNNER: 'the words of a runner',
  TOOL_CALL_FAILED: 'the words of an MCP server',
};

const sites = errorSites();
const entries = errorEntries(sites);
const codes = new Set(entries.map(({ code }) => code));

/** A schema complains about each place, with what was expected there. */
const namesEachPlace = ({ sites: those }: ErrorEntry): boolean =>
  categoriesOf(those).join() === 'validation' &&
  those.every(({ messages }) => messages.every((message) => /\{(?:complaints|issues|error|what)\}/.test(message)));

describe('the pages about errors', () => {
  /** Brought up to date with `npx vitest run test/docs/errors.test.ts --update`. */
  it('say what the source says', async () => {
    await expect(errorIndex(entries)).toMatchFileSnapshot(join(checkout, 'docs/errors.md'));
    for (const entry of entries)
      await expect(errorPage(entry)).toMatchFileSnapshot(join(checkout, `docs/errors/${entry.code}.md`));
  });

  it('name what is put in by what it is, not by how the source spells it', () => {
    const raw = /\{(?:\w*[A-Z]{2}_\w*|RESET|replace(?:All)?|describe|\w+Of)\}/;
    expect(entries.map(errorPage).filter((page) => raw.test(page.replaceAll('\\_', '_')))).toEqual([]);
  });

  it('are of errors that there are: any other is to be deleted', () => {
    expect(readdirSync(join(checkout, 'docs/errors')).toSorted()).toEqual([...codes].map((code) => `${code}.md`));
  });

  it('are of every code that stands in the source as one', () => {
    const written = sourceFiles().flatMap((file) =>
      [
        ...readFileSync(join(SRC, file), 'utf8').matchAll(
          /(?:new RuntimeError\(\s*|new Refusal\(\d+, |\bcode: |\bCODE = )'([A-Z][A-Z0-9]*_[A-Z0-9_]+)'/g,
        ),
      ].map(([, code = '']) => code),
    );
    expect(written.length).toBeGreaterThan(400);
    expect([...new Set(written)].filter((code) => !codes.has(code))).toEqual([]);
  });
});

describe('an error', () => {
  it('has a code that can be read from the source, or that of the error it is made from', () => {
    const makers = sites.filter(({ code }) => code === undefined).map(({ maker }) => maker);
    expect([...new Set(makers)].toSorted()).toEqual(PASSES_ON);
  });

  it('says what to do, unless it is a crash or there is nothing to be done', () => {
    const mute = entries.filter((entry) => {
      const categories = categoriesOf(entry.sites);
      if (categories.length === 0 || categories.includes('crash') || namesEachPlace(entry)) return false;
      return entry.sites.every(({ hints }) => hints.every((hint) => isOfAnother(hint)));
    });
    expect(mute.map(({ code }) => code)).toEqual(Object.keys(WITHOUT_HINT));
  });
});
