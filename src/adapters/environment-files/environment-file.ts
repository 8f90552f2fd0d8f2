/**
 * An environment as YAML: what is wrong with it is named with its line, and an unknown key with the one that was
 * probably meant.
 */
import { isAbsolute, resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { frontmatterIssues } from '../../machines/agent/frontmatter-issues.ts';
import type { FrontmatterIssue } from '../../machines/agent/frontmatter-issues.ts';
import { MAX_ENVIRONMENT_FILE_CHARACTERS, environmentFile } from '../../machines/environment/environment-definition.ts';
import type { EnvironmentDefinition } from '../../machines/environment/environment-definition.ts';
import { messageOf } from '../../machines/errors.ts';
import { pathOf } from '../../machines/validate.ts';
import { yamlOffsetOf } from '../system/yaml-places.ts';
import { environmentInCodeInvalid, environmentInvalid } from './environment-errors.ts';

export interface EnvironmentSource {
  readonly environmentId: string;
  readonly source: string;
  /** What errors call it. */
  readonly fileName: string;
  /** Where sources of mounts start that are not absolute: the home. */
  readonly home: string;
}

/** @throws RuntimeError ENVIRONMENT_INVALID */
export function parseEnvironment({ environmentId, source, fileName, home }: EnvironmentSource): EnvironmentDefinition {
  if (source.length > MAX_ENVIRONMENT_FILE_CHARACTERS)
    throw environmentInvalid(fileName, [
      { line: 1, message: `expected at most ${MAX_ENVIRONMENT_FILE_CHARACTERS} characters, received ${source.length}` },
    ]);
  const lines = new LineCounter();
  const document = parseDocument(source.replace(/^\uFEFF/, ''), { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  if (document.errors.length > 0)
    throw environmentInvalid(
      fileName,
      document.errors.map(({ pos, code, message }) => ({
        line: lineAt(pos[0]),
        message:
          code === 'MULTIPLE_DOCS'
            ? 'expected one environment in a file, found a line "---" that begins another'
            : message,
      })),
    );
  const value = plainValue(document, fileName);
  const parsed = readValue(value, fileName);
  if (!parsed.success) {
    throw environmentInvalid(
      fileName,
      frontmatterIssues(parsed.error, environmentFile).map(({ path, message }) => ({
        line: lineAt(yamlOffsetOf(document, path)),
        message: path.length === 0 ? message : `${pathOf(path)}: ${message}`,
      })),
    );
  }
  const tilde = tildeIn(parsed.data);
  if (tilde !== undefined)
    throw environmentInvalid(fileName, [
      { line: lineAt(yamlOffsetOf(document, tilde.path)), message: `${pathOf(tilde.path)}: ${tilde.message}` },
    ]);
  return placed(parsed.data, { environmentId, home });
}

/** One that a program gives in code. @throws RuntimeError ENVIRONMENT_INVALID naming it and each key that is wrong */
export function environmentInCode(environmentId: string, given: unknown, home: string): EnvironmentDefinition {
  const what = `environment ${JSON.stringify(environmentId)} in code`;
  const parsed = readValue(given, what);
  const tilde = parsed.success ? tildeIn(parsed.data) : undefined;
  const issues = parsed.success
    ? tilde === undefined
      ? []
      : [tilde]
    : frontmatterIssues(parsed.error, environmentFile);
  if (parsed.success && tilde === undefined) return placed(parsed.data, { environmentId, home });
  throw environmentInCodeInvalid(
    what,
    issues.map(({ path, message }) => (path.length === 0 ? message : `${pathOf(path)}: ${message}`)),
  );
}

type ReadEnvironment = Omit<EnvironmentDefinition, 'environmentId'>;

function tildeIn({ mounts }: ReadEnvironment): FrontmatterIssue | undefined {
  const index = mounts.findIndex((mount) => mount.source.startsWith('~'));
  if (index < 0) return undefined;
  const message = 'expected a path from "/" or from the home of Wakechart; "~" is not read here';
  return { path: ['mounts', index, 'source'], message };
}

/** With sources that are absolute. */
function placed(
  read: ReadEnvironment,
  { environmentId, home }: Pick<EnvironmentSource, 'environmentId' | 'home'>,
): EnvironmentDefinition {
  const mounts = read.mounts.map((mount) => ({
    ...mount,
    source: isAbsolute(mount.source) ? resolve(mount.source) : resolve(home, mount.source),
  }));
  return { ...read, mounts, environmentId };
}

/** Text that is nested deeper than the stack is no crash but a file that is not valid. */
function readValue(value: unknown, fileName: string): ReturnType<typeof environmentFile.safeParse> {
  try {
    return environmentFile.safeParse(value, { reportInput: true });
  } catch (cause) {
    throw environmentInvalid(fileName, [{ line: 1, message: `it cannot be read to its end (${messageOf(cause)})` }]);
  }
}

function plainValue(document: Document, fileName: string): unknown {
  try {
    return document.toJS() as unknown;
  } catch (cause) {
    // Too many aliases, which is how a small file grows into a large one.
    throw environmentInvalid(fileName, [{ line: 1, message: messageOf(cause) }]);
  }
}
