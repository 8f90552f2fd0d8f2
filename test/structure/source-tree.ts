/** A checkout as the setup rules see it: its files by path, their text, and what each TypeScript file imports. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { parseSync } from 'rolldown/utils';
import ts from 'typescript-api';

/** Written by tools or for one machine only; never part of the project. */
const OUTSIDE_THE_PROJECT: ReadonlySet<string> = new Set([
  'node_modules',
  'dist',
  '.build',
  '.git',
  'coverage',
  '.wakechart',
]);

/** One way a file reaches another module. Types count: a direction that holds only at run time does not hold. */
export interface ImportEdge {
  /** As written; undefined when it is computed at run time. */
  readonly specifier: string | undefined;
  /** The path a relative specifier leads to, from the root of the tree; undefined for packages and built-ins. */
  readonly target: string | undefined;
  /** 1-based. */
  readonly line: number;
}

export interface ProjectFile {
  /** From the root of the tree, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Only TypeScript and JavaScript files have these. Parsed once, when first asked for, without their comments. */
  readonly syntax: ts.SourceFile;
  readonly imports: readonly ImportEdge[];
}

export interface SourceTree {
  readonly root: string;
  readonly files: readonly ProjectFile[];
  /** Whether a file or folder is there. */
  has(path: string): boolean;
  /** The files in a folder and below it, or the one file of that path. */
  under(path: string): readonly ProjectFile[];
}

/** Reads every text file of the checkout at `root`. */
export function readSourceTree(root: string): SourceTree {
  const files = pathsBelow(root).flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return text.includes('\0') ? [] : [createProjectFile(path, text)];
  });
  return {
    root,
    files,
    has: (path) => existsSync(join(root, path)),
    under: (path) => files.filter((file) => file.path === path || file.path.startsWith(`${path}/`)),
  };
}

export function isCode(file: ProjectFile): boolean {
  return /\.[cm]?[jt]sx?$/.test(file.path);
}

/** The 1-based line on which a node begins. */
export function lineOf(syntax: ts.SourceFile, node: ts.Node): number {
  return syntax.getLineAndCharacterOfPosition(node.getStart(syntax)).line + 1;
}

/** What `check` finds in the nodes of a file, parents before children. */
export function foundInNodes<Found>(
  syntax: ts.SourceFile,
  check: (node: ts.Node) => Found | undefined,
): readonly Found[] {
  const found: Found[] = [];
  // A checkout has millions of nodes: a list of them, or a function for each, would cost more than the checking.
  const visit = (node: ts.Node): void => {
    const one = check(node);
    if (one !== undefined) found.push(one);
    node.forEachChild(visit);
  };
  visit(syntax);
  return found;
}

/** Whether a node of this file may say one of `words`: where no text does, no node has to be asked. */
export function mayMention({ text }: ProjectFile, words: RegExp): boolean {
  // A name may be written with escapes.
  return words.test(text) || text.includes('\\u');
}

function pathsBelow(root: string, folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !OUTSIDE_THE_PROJECT.has(entry.name))
    .toSorted((left, right) => left.name.localeCompare(right.name, 'en'))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return pathsBelow(root, path);
      return entry.isFile() && !entry.name.endsWith('.tgz') ? [relative(root, path).split(sep).join('/')] : [];
    });
}

function createProjectFile(path: string, text: string): ProjectFile {
  let syntax: ts.SourceFile | undefined;
  let imports: readonly ImportEdge[] | undefined;
  return {
    path,
    text,
    get syntax() {
      syntax ??= ts.createSourceFile(path, text, SYNTAX_ONLY, true);
      return syntax;
    },
    get imports() {
      imports ??= (
        MAY_IMPORT_OTHERWISE.test(text)
          ? importsInSyntax(this.syntax)
          : (statedImports(path, text) ?? importsInSyntax(this.syntax))
      ).map((edge) => ({ ...edge, target: targetOf(path, edge.specifier) }));
      return imports;
    },
  };
}

/** Comments are no part of what the rules check in nodes. */
const SYNTAX_ONLY: ts.CreateSourceFileOptions = {
  languageVersion: ts.ScriptTarget.Latest,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
};

type StatedImport = Omit<ImportEdge, 'target'>;

/** Where more may be imported than by statements and calls of `import`. A name may be written with escapes. */
const MAY_IMPORT_OTHERWISE =
  /\bimport\s*\/|\brequire\b\s*[(?</]|\bmodule\s*['"`/]|\bexport\s*(?:type\s*)?\{\s*\}|<reference|\\u/;

/**
 * What the statements of a file import and its calls of `import`, from a parser that takes a fifth of the time of
 * TypeScript's. @returns undefined when it cannot read the file, or not each `import(` is such a call
 */
function statedImports(path: string, text: string): StatedImport[] | undefined {
  const { module, errors } = parseSync(path, text);
  const calls = text.match(/\bimport\s*\(/g)?.length ?? 0;
  if (errors.length > 0 || calls !== module.dynamicImports.length) return undefined;
  const statements = [
    ...module.staticImports.map(({ start, moduleRequest }) => ({ start, specifier: moduleRequest.value })),
    ...module.staticExports.flatMap(({ start, entries }) => {
      const from = entries.find(({ moduleRequest }) => moduleRequest !== null)?.moduleRequest;
      return from === null || from === undefined ? [] : [{ start, specifier: from.value }];
    }),
    ...module.dynamicImports.map(({ start, moduleRequest }) => ({
      start,
      specifier: /^(['"`])(?<name>[^'"`$\\]*)\1$/.exec(text.slice(moduleRequest.start, moduleRequest.end))?.groups?.[
        'name'
      ],
    })),
  ].toSorted((one, other) => one.start - other.start);
  // What a file imports and exports again is told at its import, as an export too.
  const own = statements.filter(({ start }, index) => start !== statements[index - 1]?.start);
  let line = 1;
  let read = 0;
  return own.map(({ start, specifier }) => {
    line += text.slice(read, start).split('\n').length - 1;
    read = start;
    return { specifier, line };
  });
}

function importsInSyntax(syntax: ts.SourceFile): StatedImport[] {
  const references = [...syntax.referencedFiles, ...syntax.typeReferenceDirectives].map(({ fileName, pos }) => ({
    specifier: fileName,
    line: syntax.getLineAndCharacterOfPosition(pos).line + 1,
  }));
  const imports = foundInNodes(syntax, (node) => {
    const named = importedBy(node);
    return named === undefined ? undefined : { specifier: literal(named.module), line: lineOf(syntax, node) };
  });
  return [...references, ...imports];
}

const IMPORTING: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.ImportDeclaration,
  ts.SyntaxKind.ExportDeclaration,
  ts.SyntaxKind.ExternalModuleReference,
  ts.SyntaxKind.ImportType,
  ts.SyntaxKind.ModuleDeclaration,
  ts.SyntaxKind.CallExpression,
]);

/**
 * What a node imports, if it imports: `import`, `export from`, `import()`, `require`, `import('x').T`, `declare module
 * 'x'`.
 */
function importedBy(node: ts.Node): { readonly module: ts.Node | undefined } | undefined {
  if (!IMPORTING.has(node.kind)) return undefined;
  if (ts.isImportDeclaration(node)) return { module: node.moduleSpecifier };
  if (ts.isExportDeclaration(node))
    return node.moduleSpecifier === undefined ? undefined : { module: node.moduleSpecifier };
  if (ts.isExternalModuleReference(node)) return { module: node.expression };
  if (ts.isImportTypeNode(node))
    return { module: ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined };
  if (ts.isModuleDeclaration(node)) return ts.isStringLiteral(node.name) ? { module: node.name } : undefined;
  if (!ts.isCallExpression(node)) return undefined;
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
  return isRequire || node.expression.kind === ts.SyntaxKind.ImportKeyword ? { module: node.arguments[0] } : undefined;
}

function literal(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}

function targetOf(path: string, specifier: string | undefined): string | undefined {
  if (specifier === undefined || !/^\.{1,2}(?:\/|$)/.test(specifier)) return undefined;
  return posix.join(posix.dirname(path), specifier);
}
