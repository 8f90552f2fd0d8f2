/** Audits as they were written before: in a folder, or in a revision of the repository that the folder lies in. */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ZodError } from 'zod';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { readWrittenAudit } from '../../machines/inspection/written-audit.ts';
import type { WrittenAudit } from '../../machines/inspection/written-audit.ts';
import { describeIssues } from '../../machines/validate.ts';

export interface EarlierAudits {
  /** A folder with audits, or a revision: `main`, `v1.2.0`, `HEAD~3`. A folder is meant where there is one. */
  readonly from: string;
  /** Where the audits lie in the revision. */
  readonly directory: string;
  /** Runs git where we are, and answers with what it prints. */
  readonly git: (...words: readonly string[]) => Promise<string>;
}

/** By the id of the chart. @throws RuntimeError AUDITS_NOT_FOUND, AUDIT_INVALID */
export async function earlierAudits({
  from,
  directory,
  git,
}: EarlierAudits): Promise<ReadonlyMap<string, WrittenAudit>> {
  const isFolder = (await stat(from).catch(() => undefined))?.isDirectory() === true;
  const texts = isFolder ? await textsInFolder(from) : await textsInRevision(from, directory, git);
  if (texts.size === 0) {
    const where = isFolder ? `the folder ${from}` : `the revision ${from}, in ${directory}`;
    throw new RuntimeError('AUDITS_NOT_FOUND', `expected written audits in ${where}; there are none`, {
      category: 'not_found',
      hint: 'Write them there first with "wakechart audit --write", or name a revision that has them.',
    });
  }
  const audits = [...texts].map(([name, text]) => readAudit(isFolder ? join(from, name) : `${from}:${name}`, text));
  return new Map(audits.map((audit) => [audit.chart.id, audit]));
}

function readAudit(place: string, text: string): WrittenAudit {
  try {
    return readWrittenAudit(JSON.parse(text));
  } catch (cause) {
    throw new RuntimeError(
      'AUDIT_INVALID',
      `${place} is not an audit of a chart that can be read: ${cause instanceof ZodError ? describeIssues(cause).join('; ') : messageOf(cause)}`,
      {
        category: 'validation',
        hint: 'Only what "wakechart audit --write" wrote can be compared with.',
        cause,
      },
    );
  }
}

async function textsInFolder(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)),
  );
}

async function textsInRevision(
  revision: string,
  directory: string,
  git: EarlierAudits['git'],
): Promise<ReadonlyMap<string, string>> {
  if (revision.startsWith('-')) throw notFound(revision, 'it begins with "-"');
  try {
    await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`);
    // Names relative to where we are, as the directory is.
    const listed = await git('ls-tree', '-z', '--name-only', revision, '--', `${directory.replace(/\/+$/, '')}/`);
    const names = listed.split('\0').filter((name) => name.endsWith('.json'));
    return new Map(
      await Promise.all(names.map(async (name) => [name, await git('show', `${revision}:./${name}`)] as const)),
    );
  } catch (cause) {
    throw notFound(revision, messageOf(cause), cause);
  }
}

function notFound(revision: string, why: string, cause?: unknown): RuntimeError {
  return new RuntimeError(
    'AUDITS_NOT_FOUND',
    `expected a folder or a git revision with written audits; "${revision}" is neither: ${why}`,
    {
      category: 'not_found',
      hint: 'Name a folder, or a revision such as main or v1.2.0, from within the repository.',
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
