/**
 * How the page of the inspector is built: into dist/inspector-page, with nothing in it that a strict
 * Content-Security-Policy forbids.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import type { Plugin, UserConfig } from 'vite';
import { diagramStyles } from '../src/adapters/diagram/theme.ts';

const DIAGRAM_STYLES = 'virtual:diagram.css';

/**
 * The page draws no charts, but shows those that the server has drawn: their style sheet comes from where they are
 * drawn. It shows no differences.
 */
function diagramStyleSheet(): Plugin {
  return {
    name: 'diagram-style-sheet',
    resolveId: (id) => (id === DIAGRAM_STYLES ? `\0${DIAGRAM_STYLES}` : undefined),
    load: (id) => (id === `\0${DIAGRAM_STYLES}` ? diagramStyles('auto', { hasDifferences: false }) : undefined),
  };
}

const config: UserConfig = defineConfig({
  root: fileURLToPath(new URL('../src/adapters/inspector-page/', import.meta.url)),
  base: './',
  // Nothing of the machine that builds it gets into the page.
  envDir: false,
  logLevel: 'warn',
  // Children as arguments, not as a property each: shorter, and the same to Preact.
  oxc: {
    jsx: { runtime: 'classic', pragma: 'jsxElement', pragmaFrag: 'JsxFragment' },
    jsxInject: "import { Fragment as JsxFragment, h as jsxElement } from 'preact';",
  },
  plugins: [diagramStyleSheet()],
  build: {
    outDir: fileURLToPath(new URL('../dist/inspector-page/', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});

export default config;
