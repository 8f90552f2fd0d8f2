// @ts-check
/**
 * Bundles programs that use the installed package, with three bundlers, and runs what comes of it: packages that only
 * some users install are not there, a browser has nothing of Node, and what is imported by name brings little else.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build as esbuild } from 'esbuild';
import MinimizerPlugin from 'minimizer-webpack-plugin';
import { build as vite } from 'vite';
import webpack from 'webpack';

/**
 * @typedef {{ readonly name: string, readonly text: string, readonly platform: 'browser' | 'node', readonly prints:
 * string, readonly bytes: number }} Program `bytes`: what it may be at most, with all that it needs, minified
 */

/** @type {readonly Program[]} */
const PROGRAMS = [
  {
    name: 'one-error',
    text: `import { RuntimeError } from 'wakechart'; console.log(new RuntimeError('A', 'b', { category: 'conflict' }).code);`,
    platform: 'browser',
    prints: 'A',
    bytes: 5_000,
  },
  {
    name: 'charts',
    text: `import { auditChart, charts } from 'wakechart/machines'; console.log(auditChart(charts[0]).chart.id);`,
    platform: 'browser',
    prints: 'task',
    bytes: 300_000,
  },
  {
    name: 'a-runtime',
    text: `
      import { mkdtemp, rm } from 'node:fs/promises';
      import { tmpdir } from 'node:os';
      import { join } from 'node:path';
      import { createAgentRuntime, defineAgent } from 'wakechart';
      import { createNodeRuntime } from 'wakechart/node';

      const home = await mkdtemp(join(tmpdir(), 'bundled-'));
      const echo = createAgentRuntime({ id: 'echo', answer: async (params, voice) => voice.say('Here I am.') });
      const agents = [defineAgent({ id: 'echo', model: 'echo/any', instructions: 'Answer.', tools: [] })];
      const runtime = await createNodeRuntime({ home, agents, backends: [echo] });
      const { sessionId } = await runtime.sessions.create({ agentId: 'echo' });
      await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Are you there?' });
      await runtime.wake(sessionId);
      for await (const event of runtime.sessions.events(sessionId, { follow: false }))
        if (event.type === 'agent.message') console.log(event.data.text);
      await runtime.shutdown();
      await rm(home, { recursive: true });
    `,
    platform: 'node',
    prints: 'Here I am.',
    bytes: 5_000_000,
  },
];

/** @typedef {{ readonly entry: string, readonly folder: string, readonly file: string, readonly platform: Program['platform'] }} Order */

/** @type {Readonly<Record<string, (order: Order) => Promise<void>>>} */
const BUNDLERS = {
  async esbuild({ entry, folder, file, platform }) {
    await esbuild({
      entryPoints: [entry],
      outfile: join(folder, file),
      bundle: true,
      minify: true,
      format: 'esm',
      platform,
      logLevel: 'silent',
      ...(platform === 'node' ? { banner: { js: REQUIRE } } : {}),
    });
  },
  async vite({ entry, folder, file, platform }) {
    await vite({
      configFile: false,
      logLevel: 'silent',
      root: folder,
      build: {
        outDir: folder,
        emptyOutDir: false,
        minify: true,
        ...(platform === 'node' ? { ssr: entry } : {}),
        rolldownOptions: {
          input: entry,
          output: { entryFileNames: file, chunkFileNames: `${file}.[name].mjs`, format: 'esm' },
          preserveEntrySignatures: 'strict',
        },
      },
      ssr: { noExternal: true },
    });
  },
  // A second pass of terser makes these smaller by a hundredth, and what a server runs took it forty seconds.
  async webpack({ entry, folder, file, platform }) {
    const compiler = webpack({
      mode: 'production',
      target: platform === 'node' ? 'node20' : 'web',
      context: folder,
      entry,
      experiments: { outputModule: true },
      optimization:
        platform === 'node'
          ? { minimizer: [new MinimizerPlugin({ minify: MinimizerPlugin.esbuildMinify })] }
          : { minimizeOptions: { javascript: { compress: { passes: 1 } } } },
      output: {
        path: folder,
        filename: file,
        chunkFilename: `${file}.[name].mjs`,
        module: true,
        chunkFormat: 'module',
      },
    });
    const stats = await promisify(compiler.run.bind(compiler))();
    await promisify(compiler.close.bind(compiler))();
    if (stats?.hasErrors() !== false) throw new Error(stats?.toString('errors-only') ?? 'webpack said nothing');
  },
};

/** What esbuild needs for packages that are CommonJS, in modules of Node. */
const REQUIRE = `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);`;

/**
 * @param {string} project where the package is installed
 * @param {(cwd: string, command: string, arguments_: readonly string[]) => Promise<string>} run
 */
export async function bundleEach(project, run) {
  for (const { name, text, platform, prints, bytes } of PROGRAMS) {
    const entry = join(project, `${name}.mjs`);
    writeFileSync(entry, text);
    for (const [bundler, make] of Object.entries(BUNDLERS)) {
      const file = `${name}.${bundler}.mjs`;
      await make({ entry, folder: project, file, platform });
      const path = join(project, file);
      const { size } = statSync(path);
      const told = (await run(project, process.execPath, [path])).trim();
      if (told !== prints) throw new Error(`${file}: expected it to print "${prints}", it printed "${told}"`);
      if (size > bytes) throw new Error(`${file}: expected at most ${bytes} bytes, it has ${size}`);
      if (platform === 'browser' && /["']node:/.test(readFileSync(path, 'utf8')))
        throw new Error(`${file}: expected nothing of Node, since browsers have none`);
      console.log(`bundled ${file}, ${Math.ceil(size / 1000)} kB`);
    }
  }
}
