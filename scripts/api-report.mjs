// @ts-check
/**
 * Writes `docs/api`: the public signature of everything that an entry of the package exports, by API Extractor. With
 * `--check` it writes nothing and fails where a report is not what the declarations in `dist/` say.
 * Usage: node scripts/api-report.mjs [--check]
 */
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process, { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

const ENTRIES = ['index', 'node', 'machines', 'ports', 'postgres', 'testing'];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isCheck = argv.includes('--check');
const scratch = mkdtempSync(join(tmpdir(), 'api-report-'));
const silent = { default: { logLevel: ExtractorLogLevel.None } };

/** @param {string} entry */
function configOf(entry) {
  const main = join(root, 'dist', `${entry}.d.ts`);
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
        includeForgottenExports: false,
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

/** @param {string} entry */
function reportOf(entry) {
  Extractor.invoke(configOf(entry), {
    localBuild: true,
    // What it says of files that it writes is said here in a line.
    messageCallback: (message) => {
      message.handled = true;
    },
  });
  return withSortedUnions(readFileSync(join(scratch, 'reports', `${entry}.api.md`), 'utf8'));
}

/** @param {string} entry */
function isAsWritten(entry) {
  const path = join(root, 'docs/api', `${entry}.api.md`);
  const report = reportOf(entry);
  if (existsSync(path) && readFileSync(path, 'utf8') === report) return true;
  if (!isCheck) writeFileSync(path, report);
  return false;
}

try {
  mkdirSync(join(root, 'docs/api'), { recursive: true });
  mkdirSync(join(scratch, 'reports'));
  const changed = ENTRIES.filter((entry) => !isAsWritten(entry));
  for (const entry of changed)
    console.log(`docs/api/${entry}.api.md ${isCheck ? 'is not what dist/ exports' : 'written'}`);
  if (isCheck && changed.length > 0) {
    console.error('Run `npm run api`, look at the difference, and commit it: each line of it is a promise to users.');
    process.exitCode = 1;
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
