/** Labelled questions about what tools did, and about learnings and memory. */
import type { Labelled } from './labelled.ts';

const shell = (command: string, stdout: string, exitCode = 0): NonNullable<Labelled['tool']> => ({
  name: 'shell_run',
  input: { command },
  output: { exitCode, stdout },
  ...(exitCode === 0 ? {} : { failed: true as const }),
});

export const LABELLED_TRACES: readonly Labelled[] = [
  {
    kind: 'error',
    project: 'atlas',
    question: 'What error did the migration of the payouts table give?',
    tool: shell(
      'npm run migrate -- payouts',
      'applying 0042_payouts\nERROR: column "settled_at" of relation "payouts" contains null values\n',
      1,
    ),
  },
  {
    kind: 'error',
    project: 'atlas',
    question: 'webhook signature mismatch',
    tool: shell(
      'node scripts/replay-webhook.mjs evt_991',
      'POST /hooks\nInvalidSignature: expected sha256=9f3a, received sha256=11c0\n',
      1,
    ),
  },
  {
    kind: 'error',
    project: 'borealis',
    question: 'Why did the Android build fail?',
    tool: shell(
      './gradlew assembleRelease',
      '> Task :app:minifyRelease\nExecution failed: Missing class androidx.window.extensions.WindowExtensions\nBUILD FAILED in 2m 3s',
      1,
    ),
  },
  {
    kind: 'error',
    project: 'borealis',
    question: 'provisioning profile problem when signing',
    tool: shell(
      'fastlane ios beta',
      'error: No profiles for "io.borealis.app" were found: Xcode could not find any iOS App Store provisioning profiles',
      65,
    ),
  },
  {
    kind: 'error',
    project: 'cinder',
    question: 'out of heap in the bundler',
    tool: shell(
      'pnpm -r build',
      'packages/web build: FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
      134,
    ),
  },
  {
    kind: 'error',
    project: 'cinder',
    question: 'docker push was denied',
    tool: shell(
      'docker push images.cinder.test/runner:41',
      'denied: requested access to the resource is denied\nunauthorized: token expired',
      1,
    ),
  },
  {
    kind: 'error',
    project: 'dune',
    question: 'What went wrong in the Spark job for sessions?',
    tool: shell(
      'spark-submit jobs/sessions.py',
      'Caused by: org.apache.spark.SparkException: Job aborted due to stage failure: Task 17 in stage 3.0 failed 4 times: ExecutorLostFailure (executor 9 exited: Container killed on request. Exit code is 137)',
      1,
    ),
  },
  {
    kind: 'error',
    project: 'dune',
    question: 'schema registry incompatibility',
    tool: shell(
      'make register-schemas',
      'shop.orders.v3: 409 Schema being registered is incompatible with an earlier schema: READER_FIELD_MISSING_DEFAULT_VALUE coupon',
      2,
    ),
  },
  {
    kind: 'error',
    project: 'ember',
    question: 'lighthouse budget exceeded for which metric',
    tool: shell(
      'npx lhci autorun',
      'assertion failed: largest-contentful-paint expected <= 2500, found 4120 on /pricing',
      1,
    ),
  },
  {
    kind: 'error',
    project: 'fjord',
    question: 'ansible could not reach a host',
    tool: shell(
      'ansible-playbook site.yml',
      'fatal: [worker-3]: UNREACHABLE! => Failed to connect to the host via ssh: kex_exchange_identification: Connection closed by remote host',
      4,
    ),
  },
  {
    kind: 'error',
    project: 'fjord',
    question: 'certificate renewal failure',
    tool: shell(
      'certbot renew',
      'Failed to renew certificate status.fjord.test with error: Some challenges have failed. DNS problem: NXDOMAIN looking up TXT for _acme-challenge',
      1,
    ),
  },
  {
    kind: 'command',
    project: 'atlas',
    question: 'How did we reset the sandbox data?',
    tool: shell('bin/sandbox wipe --tenant demo --reseed', 'demo: 18 tables truncated, 4200 rows seeded'),
  },
  {
    kind: 'command',
    project: 'atlas',
    question: 'command to print one ledger account',
    tool: shell('bin/ledger show --account 4400 --as-of yesterday', '4400 receivables 12,904.11 EUR'),
  },
  {
    kind: 'command',
    project: 'borealis',
    question: 'how to start the emulator without audio',
    tool: shell('emulator -avd pixel_7 -no-audio -no-snapshot', 'boot completed in 31 s'),
  },
  {
    kind: 'command',
    project: 'cinder',
    question: 'which command clears the remote build cache',
    tool: shell('turbo-cache purge --older-than 14d --yes', 'removed 3811 entries, 22 GB freed'),
  },
  {
    kind: 'command',
    project: 'dune',
    question: 'What did we run to replay a dead letter queue?',
    tool: shell('kq dlq replay shop.payments.dlq --limit 500', 'replayed 500, failed 0'),
  },
  {
    kind: 'command',
    project: 'ember',
    question: 'script that regenerates the sitemap',
    tool: shell('node tools/sitemap.mjs --locale all', 'wrote 2210 urls'),
  },
  {
    kind: 'command',
    project: 'fjord',
    question: 'how was the stuck raid rebuild continued',
    tool: shell('mdadm --readwrite /dev/md0', 'md0: recovery resumed at 61 %'),
  },
  {
    kind: 'path',
    project: 'atlas',
    question: 'Where is the VAT table defined?',
    tool: {
      name: 'read',
      input: { path: 'services/tax/src/rates/vat-rates.ts' },
      output: 'export const VAT_RATES = { DE: 0.19, FR: 0.2, NO: 0.25 };',
    },
  },
  {
    kind: 'path',
    project: 'borealis',
    question: 'file with the deep link routes',
    tool: {
      name: 'edit',
      input: { path: 'app/navigation/deepLinks.ts', edits: [{ oldText: "'/promo'", newText: "'/promo/:code'" }] },
      output: 'changed 1 place',
    },
  },
  {
    kind: 'path',
    project: 'cinder',
    question: 'which file configures the runner labels',
    agent: 'Runner labels live in infra/runners/labels.yaml, one list for each pool.',
  },
  {
    kind: 'path',
    project: 'dune',
    question: 'where are the data quality checks kept',
    agent: 'The expectations for each table are under quality/expectations/, named like the table.',
  },
  {
    kind: 'path',
    project: 'ember',
    question: 'Where do the redirects live?',
    tool: {
      name: 'grep',
      input: { pattern: 'old-pricing', path: 'public/_redirects' },
      output: 'public/_redirects\n12:/old-pricing /pricing 301',
    },
  },
  {
    kind: 'path',
    project: 'fjord',
    question: 'location of the backup exclusion list',
    agent: 'What the backups leave out is listed in /etc/fjord/restic.exclude on every host.',
  },
  {
    kind: 'learning',
    project: 'atlas',
    question: 'rounding of VAT per line or per invoice',
    title: 'Round tax per line',
    detail:
      'VAT has to be rounded on each invoice line; rounding the sum was off by a cent and the auditor sent it back.',
  },
  {
    kind: 'learning',
    project: 'borealis',
    question: 'Why must simulators be shut down before UI tests?',
    title: 'Shut simulators down first',
    detail: 'A booted simulator keeps the old keychain, and every login test fails with it.',
  },
  {
    kind: 'learning',
    project: 'cinder',
    question: 'anything to watch out for with symlinks in the cache',
    title: 'The cache follows symbolic links',
    detail: 'Tar of the workspace followed links into node_modules and the upload grew to 9 GB. Pass --no-dereference.',
  },
  {
    kind: 'learning',
    project: 'dune',
    question: 'daylight saving and the hourly partitions',
    title: 'Partition by UTC',
    detail: 'Hourly partitions in local time lost an hour in October when the clocks went back.',
  },
  {
    kind: 'learning',
    project: 'ember',
    question: 'lesson about the translation export',
    title: 'Export translations with keys sorted',
    detail: 'Unsorted exports from the translation tool made every diff unreadable and hid a deleted string.',
  },
  {
    kind: 'learning',
    project: 'fjord',
    question: 'What did we learn about rebooting the database replicas?',
    title: 'One replica at a time',
    detail: 'Restarting both standby nodes together left the primary without quorum for six minutes.',
  },
  {
    kind: 'memory',
    project: 'atlas',
    question: 'How does the user want commit messages written?',
    title: 'Commit style',
    detail: 'Commits: imperative mood, at most 60 characters, the ticket number in the body and never in the subject.',
  },
  {
    kind: 'memory',
    project: 'atlas',
    question: 'preferred indentation',
    title: 'Code style',
    detail: 'Two spaces, no tabs, trailing commas, single quotes.',
  },
  {
    kind: 'memory',
    project: 'cinder',
    question: 'may I push to main directly?',
    title: 'Branches',
    detail: 'Nobody pushes to the main branch; changes come as pull requests with one review.',
  },
  {
    kind: 'memory',
    project: 'fjord',
    question: 'time zone of the team',
    title: 'People',
    detail: 'The team sits in Oslo and Tallinn; meetings are planned in Europe/Oslo, never before nine.',
  },
  {
    kind: 'memory',
    project: 'ember',
    question: 'tone of voice for texts on the site',
    title: 'Writing',
    detail: 'Copy is friendly and short, addresses the reader directly, and never uses exclamation marks.',
  },
];
