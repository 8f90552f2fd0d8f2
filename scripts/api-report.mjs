// @ts-check
/**
 * Writes `docs/api`: the public signature of everything that an entry of the package exports, by API Extractor. With
 * `--check` it writes nothing and fails where a report is not what the declarations in `dist/` say.
 * Usage: node scripts/api-report.mjs [--check]
 */
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process, { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

const ENTRIES = ['index', 'node', 'http', 'machines', 'ports', 'postgres', 'testing'];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isCheck = argv.includes('--check');
const scratch = mkdtempSync(join(tmpdir(), 'api-report-'));
const silent = { default: { logLevel: ExtractorLogLevel.None } };

/** @param {string} entry */
const declarationsOf = (entry) => join(root, 'dist', `${entry}.d.ts`);

/** @param {string} entry */
function configOf(entry) {
  const main = declarationsOf(entry);
  const compilerOptions = {
    ...{ module: 'nodenext', moduleResolution: 'nodenext', target: 'es2023', strict: true, noEmit: true },
    ...{ allowImportingTsExtensions: true, skipLibCheck: true },
    // Without the DOM's, API Extractor cannot follow `AbortSignal` to where Node declares it.
    ...{ lib: ['es2023', 'dom', 'dom.iterable'], typeRoots: [join(root, 'node_modules/@types')], types: ['node'] },
  };
  return ExtractorConfig.prepare({
    packageJsonFullPath: join(root, 'package.json'),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: main,
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions, include: [main] } },
      apiReport: {
        enabled: true,
        reportFolder: join(scratch, 'reports'),
        reportTempFolder: join(scratch, 'temporary'),
        reportFileName: entry,
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: silent,
        extractorMessageReporting: silent,
        tsdocMessageReporting: silent,
      },
    },
  });
}

/**
 * A union of literals in the order of the alphabet: the compiler writes an inferred one in the order in which it met
 * them, which changes with files that have nothing to do with it.
 * @param {string} text
 */
function withSortedUnions(text) {
  const literal = String.raw`(?:"[^"\n]*"|'[^'\n]*'|\d+)`;
  return text.replaceAll(new RegExp(`${literal}(?: \\| ${literal})+`, 'g'), (union) =>
    union.split(' | ').toSorted().join(' | '),
  );
}

const CONSTRUCTOR = /^ {4}constructor\([\s\S]*?\);\n/m;
const BLOCK = /\n\n(?=\/\/ @\w+)/;
const DECLARED = /^(?<exported>export )?(?:declare |abstract )*(?:interface|type|class|function|const) (?<name>\w+)/m;

/** What a declaration of a report declares. @param {string} block */
function declaredBy(block) {
  const { name = '', exported } = DECLARED.exec(block)?.groups ?? {};
  return {
    name,
    isExported: exported !== undefined,
    isType: /^(?:declare |abstract )*(?:interface|type|class) /m.test(block),
  };
}

/** What an entry exports as types only. @param {string} entry */
function typesOf(entry) {
  const text = readFileSync(declarationsOf(entry), 'utf8');
  const lists = [...text.matchAll(/^export type \{(?<names>[^}]*)\}/gm)].map((match) => match.groups?.['names'] ?? '');
  return new Set(lists.flatMap((list) => list.match(/\w+(?=\s*(?:,|$))/g) ?? []));
}

/** @param {string} report */
function namesExportedIn(report) {
  return report.split(BLOCK).flatMap((block) => {
    const { name, isExported } = declaredBy(block);
    return isExported ? name : [];
  });
}

/**
 * A report with what its entry exports, and the types without a name of their own that stand in those signatures. What
 * another entry exports stands in the report of that one. No one outside constructs a class that is exported as a type,
 * or not at all.
 * @param {string} report @param {{ readonly exportedAnywhere: ReadonlySet<string>, readonly asTypes: ReadonlySet<string> }} names
 */
function withParts(report, { exportedAnywhere, asTypes }) {
  const [head = '', ...rest] = report.split(BLOCK);
  const [end = ''] = /\n\n(?:\/\/ \(No @packageDocumentation[^\n]*\n\n)?```\n*$/.exec(report) ?? [];
  const blocks = rest.map((text) => {
    const declared = declaredBy(text);
    const whole = text.replace(end, '');
    const isMade = declared.isExported && !asTypes.has(declared.name);
    return { block: isMade ? whole : whole.replace(CONSTRUCTOR, ''), ...declared };
  });
  const kept = new Set(blocks.filter(({ isExported }) => isExported));
  // A set hears of what is added while it is gone through.
  for (const { block } of kept)
    for (const part of blocks)
      if (part.isType && !exportedAnywhere.has(part.name) && new RegExp(`\\b${part.name}\\b`).test(block))
        kept.add(part);
  const body = blocks.filter((each) => kept.has(each)).map(({ block }) => block);
  const text = body.join('\n\n');
  const needed = head
    .split('\n')
    .filter((line) => {
      const imported = /^import (?:type )?\{ (?:\w+ as )?(?<name>\w+) \}/.exec(line)?.groups?.['name'];
      return imported === undefined || new RegExp(`\\b${imported}\\b`).test(text);
    })
    .join('\n');
  return [needed, ...body].join('\n\n') + end;
}

/** @param {string} entry @param {CompilerState} compilerState one for all, since they are made of the same files */
function reportOf(entry, compilerState) {
  Extractor.invoke(configOf(entry), {
    localBuild: true,
    compilerState,
    // What it says of files that it writes is said here in a line.
    messageCallback: (message) => {
      message.handled = true;
    },
  });
  return withSortedUnions(readFileSync(join(scratch, 'reports', `${entry}.api.md`), 'utf8'));
}

/** @param {string} entry @param {string} report */
function isAsWritten(entry, report) {
  const path = join(root, 'docs/api', `${entry}.api.md`);
  if (existsSync(path) && readFileSync(path, 'utf8') === report) return true;
  if (!isCheck) writeFileSync(path, report);
  return false;
}

try {
  mkdirSync(join(root, 'docs/api'), { recursive: true });
  mkdirSync(join(scratch, 'reports'));
  const additionalEntryPoints = ENTRIES.map(declarationsOf);
  const compilerState = CompilerState.create(configOf('index'), { additionalEntryPoints });
  const reports = new Map(ENTRIES.map((entry) => [entry, reportOf(entry, compilerState)]));
  const exportedAnywhere = new Set([...reports.values()].flatMap(namesExportedIn));
  const changed = [...reports]
    .filter(([entry, report]) => {
      const parts = withParts(report, { exportedAnywhere, asTypes: typesOf(entry) });
      return !isAsWritten(entry, parts);
    })
    .map(([entry]) => entry);
  for (const entry of changed)
    console.log(`docs/api/${entry}.api.md ${isCheck ? 'is not what dist/ exports' : 'written'}`);
  if (isCheck && changed.length > 0) {
    console.error('Run `npm run api`, check the difference, and commit it: each line of it is a promise to users.');
    process.exitCode = 1;
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
