/** How a file of the setup checks, whatever it holds: its opening, its length, its imports and exports, its types. */
import ts from 'typescript-api';
import type { Rule, Violation } from './rules.ts';
import { foundInNodes, isCode, lineOf, mayMention } from './source-tree.ts';
import type { ProjectFile } from './source-tree.ts';

const MAX_LINES = 499;

/** Files at the edge of somebody else's types, where `any` cannot be kept out. */
const ANY_IS_ALLOWED_IN: ReadonlySet<string> = new Set();

/** Where code lies. Only src and test are guarded: the others come and go. */
const ALL_CODE = ['src', 'test', 'bench', 'examples', 'scripts'];

type Complaint = Omit<Violation, 'rule' | 'file'>;

interface FileRule {
  readonly name: string;
  /** The folders whose code is checked. */
  readonly checksAt: readonly string[];
  readonly guards: readonly string[];
  readonly complaints: (file: ProjectFile) => readonly Complaint[];
}

function fileRule({ name, checksAt, guards, complaints }: FileRule): Rule {
  return {
    name,
    guards,
    check: (tree) =>
      checksAt
        .flatMap((folder) => tree.under(folder))
        .filter(isCode)
        .flatMap((file) => complaints(file).map((complaint) => ({ ...complaint, file: file.path }))),
  };
}

/** Complains about every node that `message` has something to say about, in files that may say one of `words`. */
function nodeComplaints(
  file: ProjectFile,
  words: RegExp,
  message: (node: ts.Node) => string | undefined,
): readonly Complaint[] {
  if (!mayMention(file, words)) return [];
  const { syntax } = file;
  return foundInNodes(syntax, (node) => {
    const text = message(node);
    return text === undefined ? undefined : { line: lineOf(syntax, node), message: text };
  });
}

/** The file's first comment, when it is a docstring and nothing but a shebang stands before it. */
function openingDocstring(text: string): string | undefined {
  const start = ts.getShebang(text)?.length ?? 0;
  const first = ts.getLeadingCommentRanges(text, start)?.[0];
  return first === undefined
    ? undefined
    : /^\/\*\*(?<words>[\s\S]*)\*\/$/.exec(text.slice(first.pos, first.end))?.groups?.['words'];
}

const filesOpenWithDocstring = fileRule({
  name: 'files-open-with-a-docstring',
  checksAt: ['src'],
  guards: ['src'],
  complaints: ({ text }) => {
    const message = 'does not open with a docstring that says what it is; put one above the imports';
    return /\w/.test(openingDocstring(text) ?? '') ? [] : [{ line: 1, message }];
  },
});

const filesStayShort = fileRule({
  name: 'files-stay-short',
  checksAt: ALL_CODE,
  guards: ['src', 'test'],
  complaints: ({ text }) => {
    const lines = text.replace(/\n$/, '').split('\n').length;
    return lines <= MAX_LINES
      ? []
      : [{ message: `has ${lines} lines, at most ${MAX_LINES} are allowed; it is two files` }];
  },
});

const relativeImportsNameTheFile = fileRule({
  name: 'relative-imports-name-the-file',
  checksAt: ALL_CODE,
  guards: ['src', 'test'],
  complaints: (file) =>
    file.imports
      // A program that a test starts in a process of its own runs what was built.
      .filter(({ target }) => target !== undefined && !/\.(?:tsx?|mjs|json|css)$|^dist\/.+\.js$/.test(target))
      .map(({ specifier, line }) => ({
        line,
        message: `imports ${String(specifier)}; a relative import ends in .ts (.mjs for a script)`,
      })),
});

/** Under the one name `z` bundlers take along all that zod has: its texts in all languages, as much again as the rest. */
const zodIsANamespace = fileRule({
  name: 'zod-is-a-namespace',
  checksAt: ['src'],
  guards: ['src'],
  complaints: (file) =>
    nodeComplaints(file, /['"]zod['"]/, (node) => {
      if (!ts.isImportSpecifier(node) || (node.propertyName ?? node.name).text !== 'z') return undefined;
      const { moduleSpecifier } = node.parent.parent.parent;
      return ts.isStringLiteral(moduleSpecifier) && moduleSpecifier.text === 'zod'
        ? "imports { z }; write import * as z from 'zod', of which bundlers leave out what is not used"
        : undefined;
    }),
});

/** `export` or `as` with nothing but spaces, comments and `type` before what gives no name. */
const MAY_EXPORT_UNNAMED = /\b(?:export|as)\b(?:\s|\btype\b|\/\*[^]*?\*\/|\/\/.*)*(?:\*|=|['"]?default\b)/;

const exportsAreNamed = fileRule({
  name: 'exports-are-named',
  checksAt: ['src'],
  guards: ['src'],
  complaints: (file) =>
    nodeComplaints(file, MAY_EXPORT_UNNAMED, (node) => {
      if (
        ts.isExportDeclaration(node) &&
        (node.exportClause === undefined || ts.isNamespaceExport(node.exportClause))
      ) {
        return 'exports everything of another module; name what is public';
      }
      const isDefault =
        ts.isExportAssignment(node) ||
        (ts.isExportSpecifier(node) && node.name.text === 'default') ||
        (ts.canHaveModifiers(node) &&
          ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) === true);
      return isDefault ? 'has a default export; give it a name' : undefined;
    }),
});

const anyStaysOut = fileRule({
  name: 'any-stays-out',
  checksAt: ['src'],
  guards: ['src', ...ANY_IS_ALLOWED_IN],
  complaints: (file) =>
    ANY_IS_ALLOWED_IN.has(file.path)
      ? []
      : nodeComplaints(file, /\bany\b/, (node) =>
          node.kind === ts.SyntaxKind.AnyKeyword ? 'uses any; use unknown and narrow it' : undefined,
        ),
});

const MODIFIED_TEST = /^(?:it|test|describe|suite|bench)(?:\.\w+)*\.(?<modifier>only|skip|todo)$/;

const everyTestRuns = fileRule({
  name: 'every-test-runs',
  checksAt: ['test'],
  guards: ['test'],
  complaints: (file) =>
    nodeComplaints(file, /\.\s*(?:only|skip|todo)\b/, (node) => {
      const modifier = ts.isPropertyAccessExpression(node)
        ? MODIFIED_TEST.exec(node.getText())?.groups?.['modifier']
        : undefined;
      return modifier === undefined
        ? undefined
        : `leaves tests out with .${modifier}; use skipIf(reason) for what a machine cannot do`;
    }),
});

export const fileRules: readonly Rule[] = [
  filesOpenWithDocstring,
  filesStayShort,
  relativeImportsNameTheFile,
  zodIsANamespace,
  exportsAreNamed,
  anyStaysOut,
  everyTestRuns,
];
